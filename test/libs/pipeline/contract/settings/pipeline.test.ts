import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type ConfigurationFile, decodeConfiguration, environmentKeys, settingsPage } from "#configuration"
import { itemSettingsOf, projectSettingsDefault, workItemSettingsDefault } from "#pipeline/contract"

const configured = (input: unknown): ConfigurationFile => {
  const decoded = decodeConfiguration(input)
  if (Result.isFailure(decoded)) return assert.fail(JSON.stringify(decoded.failure))
  return decoded.success
}
const faults = (input: unknown) => {
  const decoded = decodeConfiguration(input)
  return Result.isFailure(decoded) ? decoded.failure : []
}
const pipelineSections = [
  "PipelineApi",
  "Pipeline",
  "Agents",
  "AutoRetryOnTransientFailure",
  "QuotaRetry",
  "DiskGuard",
  "StalePullRequestSweep",
  "Budget",
  "Sweeper",
  "Redaction"
]
const kind = (changes: object) => ({ Kind: "gardener", ...changes })

describe("the pipeline's configuration", () => {
  it("has the actors' defaults", () => {
    const configuration = configured({})
    assert.deepStrictEqual(itemSettingsOf(configuration), workItemSettingsDefault)
    assert.strictEqual(configuration.Budget.WarningThresholdPct, projectSettingsDefault.warningThresholdPct)
    assert.strictEqual(configuration.Budget.HardCapPct, projectSettingsDefault.hardCapPct)
    assert.strictEqual(configuration.PipelineApi.Port, 7_401)
    assert.isFalse(configuration.StalePullRequestSweep.RouteToConflictRework)
  })

  it("is copied into an item's settings, with the project's own on top", () => {
    const configuration = configured({
      Pipeline: { FailingSeverity: "Warning", MaxAuditIterations: 7, DelegateAfterFailures: 2 },
      AutoRetryOnTransientFailure: { MaxAttempts: 9, InitialBackoffSeconds: 0.5, Jitter: 0 },
      QuotaRetry: { MaxAttempts: 4 }
    })
    const settings = itemSettingsOf(configuration, { maxAuditIterations: 1, autoMerge: true })
    assert.deepInclude(settings, {
      failingSeverity: "Warning",
      maxAuditIterations: 1,
      autoMerge: true,
      delegatesAfterFailures: 2,
      maxTransientRetries: 9,
      maxQuotaRetries: 4,
      transientBackoff: { initialMs: 500, maxMs: 1_800_000, jitter: 0 }
    })
  })

  it.each([
    [{ Pipeline: { MaxRecoveryAttempts: -1 } }, "Pipeline.MaxRecoveryAttempts"],
    [{ Pipeline: { MaxAuditIterations: 0 } }, "Pipeline.MaxAuditIterations"],
    [{ Pipeline: { BaseBranch: "a..b" } }, "Pipeline.BaseBranch"],
    [{ Pipeline: { Auditors: [] } }, "Pipeline.Auditors"],
    [{ Pipeline: { Auditors: ["a", "a"] } }, "Pipeline.Auditors"],
    [{ Pipeline: { ProgressSeconds: 60, ProgressTimeoutSeconds: 60 } }, "Pipeline"],
    [{ Budget: { WarningThresholdPct: 100 } }, "Budget"],
    [{ DiskGuard: { MinFreeBytes: 0.5 } }, "DiskGuard.MinFreeBytes"],
    [{ StalePullRequestSweep: { RouteToConflictRework: "yes" } }, "StalePullRequestSweep.RouteToConflictRework"],
    [{ AutoRetryOnTransientFailure: { Jitter: 1.1 } }, "AutoRetryOnTransientFailure.Jitter"],
    [{ Sweeper: { WatchdogSeconds: 0 } }, "Sweeper.WatchdogSeconds"],
    [{ Agents: { Kinds: [kind({}), kind({})] } }, "Agents.Kinds"],
    [{ Agents: { Kinds: [kind({ Class: "gardener" })] } }, "Agents.Kinds"],
    [{ Agents: { Kinds: [kind({ Kind: "a/b" })] } }, "Agents.Kinds[0].Kind"],
    [{ Agents: { Kinds: [kind({ Models: ["m", "m"] })] } }, "Agents.Kinds[0].Models"],
    [{ Agents: { Kinds: [kind({ Phases: ["sleep"] })] } }, "Agents.Kinds[0].Phases[0]"],
    [{ Agents: { FastFailuresMax: 51 } }, "Agents.FastFailuresMax"]
  ])("reports the fault in %o", (input, path) => {
    assert.deepStrictEqual(
      faults(input).map((fault) => fault.path),
      [path]
    )
  })

  it.each(["(", "a*", "(a+)+$", "(x\\d*y)*z", "(a)\\1"])("does not search for secrets by %s", (Pattern) => {
    const paths = faults({ Redaction: { Patterns: [{ Name: "own", Pattern }] } }).map(({ path }) => path)
    assert.deepStrictEqual(paths, ["Redaction.Patterns[0].Pattern"])
  })

  it.each(["acme-[0-9a-f]{32}", "(?:prod|test)_[A-Za-z0-9]+", "\\bKEY\\d+"])(
    "searches for secrets by %s",
    (Pattern) => {
      assert.deepStrictEqual(faults({ Redaction: { Patterns: [{ Name: "own", Pattern, Flags: "i" }] } }), [])
    }
  )

  it("can be overridden from the environment", () => {
    const variables = environmentKeys.map(({ variable }) => variable)
    assert.includeMembers(variables, [
      "PIPELINE_API_PORT",
      "PIPELINE_MAX_RECOVERY_ATTEMPTS",
      "DISK_GUARD_MIN_FREE_BYTES",
      "STALE_PULL_REQUEST_SWEEP_ROUTE_TO_CONFLICT_REWORK",
      "AUTO_RETRY_ON_TRANSIENT_FAILURE_MAX_ATTEMPTS"
    ])
    assert.strictEqual(new Set(variables).size, variables.length, "two keys share a variable")
  })
})

describe("the page of settings", () => {
  const page = settingsPage()

  it("lists every key of every section, its variable and its default", () => {
    for (const { section, key, variable } of environmentKeys) {
      assert.include(page, section)
      assert.isTrue(page.includes(`| \`${key}\` \`${variable}\` |`) || page.includes(`.${key}`), `${section}.${key}`)
    }
    assert.include(
      page,
      "| `MinFreeBytes` `DISK_GUARD_MIN_FREE_BYTES` | 0 to 9007199254740991: a whole number | `5368709120` |"
    )
  })

  it("gives a reason for every key of the pipeline's sections", () => {
    for (const section of pipelineSections) {
      const from = page.indexOf(`\n## ${section}\n`)
      assert.isAbove(from, 0, section)
      const rows = page
        .slice(from + 1, page.indexOf("\n## ", from + 1))
        .split("\n")
        .filter((line) => line.startsWith("| `"))
      assert.isNotEmpty(rows, section)
      for (const row of rows) assert.notMatch(row, /\|\s*\|$/u, section)
    }
  })
})
