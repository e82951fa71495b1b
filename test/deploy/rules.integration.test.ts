import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { stringify } from "yaml"
import { ruleGroups } from "../../deploy/generate/files.ts"
import { type Alert, ruleGroup, runbookOf } from "../../deploy/generate/rules.ts"
import { expressions } from "./declared-metrics.ts"
import { recordingCases } from "./recording-cases.ts"
import type { RuleCase } from "./rule-case.ts"
import { ruleCases, shownValues } from "./rule-cases.ts"
import { promtool } from "./tools.ts"

const alerts = ruleGroups.flatMap((group) => group.alerts)
const recordings = ruleGroups.flatMap((group) => group.recordings)

const run = (files: Readonly<Record<string, unknown>>, parameters: ReadonlyArray<string>) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-rules-"))
  try {
    for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), stringify(value))
    execFileSync(promtool ?? "", parameters, { cwd: folder, encoding: "utf8", stdio: "pipe" })
    return ""
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    return `${stdout}\n${stderr}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const rules = { groups: ruleGroups.map(ruleGroup) }

const inputs = (series: Readonly<Record<string, string>>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }))

const rendered = (summary: string, { alert, labels }: RuleCase) =>
  summary
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/gu, (_, label: string) => labels[label] ?? "")
    .replaceAll(/\{\{ \$value \| \w+ \}\}/gu, shownValues[alert] ?? "")

const alertTest = (found: RuleCase, alert: Alert, isFiring: boolean) => ({
  interval: "1m",
  input_series: inputs(isFiring ? found.fires : found.silent),
  alert_rule_test: [
    {
      eval_time: found.at,
      alertname: found.alert,
      exp_alerts: isFiring
        ? [
            {
              exp_labels: { severity: alert.severity, ...found.labels },
              exp_annotations: {
                summary: rendered(alert.summary, found),
                runbook_url: runbookOf(found.alert)
              }
            }
          ]
        : []
    }
  ]
})

describe("the rules", () => {
  it.skipIf(promtool === undefined)("are sound to Prometheus", () => {
    assert.strictEqual(run({ "rules.yaml": rules }, ["check", "rules", "rules.yaml"]), "")
  })

  it.skipIf(promtool === undefined)("and all that boards ask are sound to Prometheus", () => {
    const asked = expressions.map(([, expr], index) => ({ record: `asked:${index}`, expr }))
    const group = { groups: [{ name: "asked", rules: asked }] }
    assert.strictEqual(run({ "rules.yaml": group }, ["check", "rules", "rules.yaml"]), "")
  })

  it("are each tested: alerts and recordings", () => {
    assert.deepStrictEqual(ruleCases.map(({ alert }) => alert).toSorted(), alerts.map(({ name }) => name).toSorted())
    assert.deepStrictEqual(
      recordingCases.map(({ record }) => record).toSorted(),
      recordings.map(({ record }) => record).toSorted()
    )
  })

  it("say in their summaries how much it is, unless the condition is a state", () => {
    for (const { name, expr, summary } of alerts) {
      assert.strictEqual(summary.includes("$value"), !/ == [012]$|_state\) > 0$/u.test(expr), name)
    }
    const withValue = alerts.filter(({ summary }) => summary.includes("$value")).map(({ name }) => name)
    assert.deepStrictEqual(Object.keys(shownValues).toSorted(), withValue.toSorted())
  })

  // Each subject with its own rules alone: every rule is evaluated for every minute of every case.
  it.skipIf(promtool === undefined).each(ruleGroups.filter((group) => group.alerts.length > 0))(
    "of $name fire when they should, and only then",
    (group) => {
      const own = group.alerts.flatMap((alert) => {
        const found = ruleCases.find((one) => one.alert === alert.name)
        return found === undefined ? [] : [alertTest(found, alert, true), alertTest(found, alert, false)]
      })
      const files = {
        "rules.yaml": { groups: [ruleGroup(group)] },
        "tests.yaml": { rule_files: ["rules.yaml"], evaluation_interval: "1m", tests: own }
      }

      assert.strictEqual(run(files, ["test", "rules", "tests.yaml"]), "")
    }
  )

  it.skipIf(promtool === undefined)("record what they say", () => {
    const tests = recordingCases.map(({ record, series, labels, value }) => ({
      interval: "1m",
      input_series: inputs(series),
      promql_expr_test: [
        { expr: `round(${record}, 0.001)`, eval_time: "20m", exp_samples: [{ labels: `{${labels}}`, value }] }
      ]
    }))
    const file = { rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }

    assert.strictEqual(run({ "rules.yaml": rules, "tests.yaml": file }, ["test", "rules", "tests.yaml"]), "")
  })

  it.skipIf(promtool === undefined)("would not pass with an expectation that is wrong", () => {
    const [first] = ruleCases
    const alert = alerts.find(({ name }) => name === first?.alert)
    assert.isDefined(first)
    assert.isDefined(alert)
    const swapped = { ...first, fires: first.silent }
    const file = {
      rule_files: ["rules.yaml"],
      evaluation_interval: "1m",
      tests: [alertTest(swapped as RuleCase, alert as Alert, true)]
    }

    assert.notStrictEqual(run({ "rules.yaml": rules, "tests.yaml": file }, ["test", "rules", "tests.yaml"]), "")
  })
})
