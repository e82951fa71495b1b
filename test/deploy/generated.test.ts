import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parties, permissionsOf, coreSubjects, topology } from "#bus"
import { environmentKeys, roleNames } from "#contracts"
import { devBrokerFile, reservedBytes } from "../../deploy/generate/dev-broker.ts"
import { generatedFiles, ruleGroups } from "../../deploy/generate/files.ts"
import { natsValues } from "../../deploy/generate/nats-values.ts"
import { containerSecurity, podSecurity } from "../../deploy/generate/objects.ts"
import { roleDeployments } from "../../deploy/generate/roles.ts"
import { ruleGroup } from "../../deploy/generate/rules.ts"
import { deliverableBacklog } from "../../deploy/generate/scaling.ts"
import { moneyStreams, streamResources } from "../../deploy/generate/streams.ts"
import { alerts, expressions, labelsOf, panels } from "./declared-metrics.ts"
import { groupLabelsOf, selectorsOf } from "./prom-expression.ts"
import { repository } from "./tools.ts"

const read = (path: string) => readFileSync(join(repository, path), "utf8")

describe("what is made for the deployment", () => {
  it("is up to date", () => {
    for (const { path, content } of generatedFiles()) {
      assert.isTrue(existsSync(join(repository, path)), `${path} is missing: run node deploy/generate/main.ts`)
      assert.strictEqual(read(path), content, `${path} is stale: run node deploy/generate/main.ts`)
    }
  })

  it("has a deployment for every role and for nothing else", () => {
    assert.deepStrictEqual(roleDeployments.map(({ name }) => name).toSorted(), [...roleNames].toSorted())
  })

  it("sets only what the configuration knows", () => {
    const known = environmentKeys.map(({ variable }) => variable)
    for (const { api } of roleDeployments) {
      if (api !== undefined) assert.includeMembers(known, [`${api.section}_HOST`, `${api.section}_PORT`])
    }
    assert.includeMembers(known, ["BUS_USER", "BUS_PASSWORD", "TELEMETRY_HOST", "TELEMETRY_PORT"])
  })

  it("keeps money on the servers that write before they confirm", () => {
    const placed = streamResources(topology).map(({ spec }) => spec as { name: string; placement: { cluster: string } })
    const money = placed.filter(({ placement }) => placement.cluster === "nats-payments").map(({ name }) => name)

    assert.deepStrictEqual(money.toSorted(), [...moneyStreams].toSorted())
  })

  it("says every age and every window of a stream, for the streams' controller takes a year for an age that is empty", () => {
    const seconds = (text: string) => Number(/^(\d+(?:\.\d+)?)s$/u.exec(text)?.[1])
    for (const { spec } of streamResources(topology)) {
      const { name, maxAge, duplicateWindow } = spec as Record<"name" | "maxAge" | "duplicateWindow", string>
      assert.isAtLeast(seconds(maxAge), 0, name)
      assert.isAbove(seconds(duplicateWindow), 0, name)
      // The broker refuses a window that is longer than the messages live.
      if (seconds(maxAge) > 0) assert.isAtMost(seconds(duplicateWindow), seconds(maxAge), name)
    }
  })

  it("calls each broker's server after its pod, as autoscalers look for a consumer's leader", () => {
    for (const { values } of natsValues(topology)) assert.notProperty(values.config, "serverNamePrefix")
  })

  it("runs the brokers as a namespace that enforces `restricted` wants it", () => {
    for (const { values } of natsValues(topology)) {
      assert.deepStrictEqual(values.podTemplate.merge.spec.securityContext, podSecurity)
      for (const { merge } of [values.container, values.reloader, values.promExporter]) {
        assert.deepStrictEqual(merge.securityContext, containerSecurity)
      }
    }
  })

  it("gives the development broker a disk for all that its streams reserve", () => {
    const [, disk = "", memory = ""] =
      /max_file_store: (\d+)GiB, max_memory_store: (\d+)MiB/u.exec(devBrokerFile(topology)) ?? []

    assert.isAbove(reservedBytes(topology, "file"), 15 * 1_024 ** 3)
    assert.isAbove(Number(disk) * 1_024 ** 3, reservedBytes(topology, "file"))
    assert.isAbove(Number(memory) * 1_024 ** 2, reservedBytes(topology, "memory"))
  })

  it("scales on the backlog that is recorded as deliverable", () => {
    const recorded = ruleGroups.flatMap(({ recordings }) => recordings)
    const squeezed = (text: string | undefined) => text?.replaceAll(/\s+/gu, "")

    assert.strictEqual(
      squeezed(recorded.find(({ record }) => record === "webhook_backlog:deliverable")?.expr),
      squeezed(deliverableBacklog)
    )
  })
})

describe("the broker's users", () => {
  const rights = parties.map((party) => [party, permissionsOf(topology, coreSubjects, party)] as const)

  it.each(rights)("%s may neither make, change, copy nor delete a stream", (_, { publish }) => {
    const forbidden = /^\$JS\.API\.(?:STREAM\.(?:CREATE|UPDATE|DELETE|SNAPSHOT|RESTORE|LIST|NAMES)|>|\*)/u
    assert.isEmpty(publish.filter((subject) => forbidden.test(subject) || subject === ">" || subject === "$JS.>"))
  })

  it.each(rights)("%s hears no answers but its own", (party, { subscribe }) => {
    const inboxes = subscribe.filter((subject) => subject.startsWith("_INBOX"))
    assert.deepStrictEqual(inboxes, [`_INBOX_${party.replaceAll(" ", "-")}.>`])
  })

  it("lets only pipeline-api and sweeper write the log, and only the settler its receipts", () => {
    const writers = (prefix: string) =>
      rights.filter(([, { publish }]) => publish.some((subject) => subject.startsWith(prefix))).map(([party]) => party)

    assert.deepStrictEqual(writers("log."), ["pipeline-api", "sweeper"])
    assert.deepStrictEqual(writers("receipts."), ["payment-settler"])
    assert.deepStrictEqual(writers("$KV.tokens."), ["operator"])
  })
})

describe("what is watched", () => {
  it.each(expressions)("exists, with its labels: %s", (_, expr) => {
    const selectors = selectorsOf(expr)
    assert.isNotEmpty(selectors)
    for (const { metric, labels } of selectors) {
      const known = labelsOf(metric)
      assert.isDefined(known, `nothing tells ${metric}`)
      assert.includeMembers([...(known ?? [])], [...labels], metric)
    }
    const all = selectors.flatMap(({ metric }) => labelsOf(metric) ?? [])
    assert.includeMembers(all, [...groupLabelsOf(expr)])
  })

  it("names in its summaries and legends only labels that are left", () => {
    for (const { name, expr, summary } of alerts) {
      const used = [...summary.matchAll(/\$labels\.(\w+)/gu)].map(([, label = ""]) => label)
      const left =
        groupLabelsOf(expr).length > 0
          ? groupLabelsOf(expr)
          : selectorsOf(expr).flatMap(({ metric }) => labelsOf(metric) ?? [])
      assert.includeMembers([...left], used, name)
    }
    for (const { title, expr, legend } of panels) {
      const used = [...legend.matchAll(/\{\{(\w+)\}\}/gu)].map(([, label = ""]) => label)
      const left =
        groupLabelsOf(expr).length > 0
          ? groupLabelsOf(expr)
          : selectorsOf(expr).flatMap(({ metric }) => labelsOf(metric) ?? [])
      assert.includeMembers([...left], used, title)
    }
  })

  it("leads from every alert to a heading that is there", () => {
    for (const { rules } of ruleGroups.map(ruleGroup)) {
      for (const { alert, annotations } of rules.filter((rule) => "alert" in rule)) {
        const [path = "", anchor] = annotations.runbook.split("#")
        const headings = [...read(path).matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) => heading)
        assert.include(
          headings.map((heading) => heading.toLowerCase().replaceAll(" ", "-")),
          anchor,
          alert
        )
      }
    }
  })

  it("has a runbook for every alert, that says what it means, what to look at and what to do", () => {
    const page = read("docs/operations.md")
    for (const { name } of alerts) {
      const section = page.split(`\n#### ${name}\n`)[1]?.split(/\n#{2,4} /u)[0]
      assert.isDefined(section, `docs/operations.md has no runbook for ${name}`)
      for (const part of ["Means:", "Look at:", "Do:"]) assert.include(section ?? "", part, name)
    }
  })

  it("has no runbook for an alert that is gone", () => {
    const written = [...read("docs/operations.md").matchAll(/^#### (\w+)$/gmu)].map(([, name]) => name)
    assert.deepStrictEqual(written.toSorted(), alerts.map(({ name }) => name).toSorted())
  })
})
