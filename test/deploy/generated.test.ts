import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parties, permissionsOf, coreSubjects, topology } from "#bus"
import { environmentKeys, roleNames } from "#contracts"
import { boards } from "../../deploy/generate/boards.ts"
import { alertsOn, asked, expressionsOf, grafana } from "../../deploy/generate/dashboards.ts"
import { devBrokerFile, reservedBytes } from "../../deploy/generate/dev-broker.ts"
import { generatedFiles, ruleGroups } from "../../deploy/generate/files.ts"
import { natsValues } from "../../deploy/generate/nats-values.ts"
import { fleetSight, wayToApis } from "../../deploy/generate/network.ts"
import { containerSecurity, partOfStarling, podSecurity } from "../../deploy/generate/objects.ts"
import { roleDeployments } from "../../deploy/generate/roles.ts"
import { ruleGroup, runbooksUrl } from "../../deploy/generate/rules.ts"
import { deliverableBacklog } from "../../deploy/generate/scaling.ts"
import { moneyStreams, streamResources } from "../../deploy/generate/streams.ts"
import { alerts, expressions, labelsOf, panels, recordings } from "./declared-metrics.ts"
import { groupLabelsOf, selectorsOf } from "../../deploy/generate/promql.ts"
import { repository } from "./tools.ts"

const read = (path: string) => readFileSync(join(repository, path), "utf8")

describe("the generated manifests", () => {
  it("are up to date", () => {
    for (const { path, content } of generatedFiles()) {
      assert.isTrue(existsSync(join(repository, path)), `${path} is missing: run node deploy/generate/main.ts`)
      assert.strictEqual(read(path), content, `${path} is stale: run node deploy/generate/main.ts`)
    }
  })

  it("have a deployment for every role and for nothing else", () => {
    assert.deepStrictEqual(roleDeployments.map(({ name }) => name).toSorted(), [...roleNames].toSorted())
  })

  it("set only keys of the configuration", () => {
    const known = environmentKeys.map(({ variable }) => variable)
    for (const { api } of roleDeployments) {
      if (api !== undefined) assert.includeMembers(known, [`${api.section}_HOST`, `${api.section}_PORT`])
    }
    assert.includeMembers(known, ["BUS_USER", "BUS_PASSWORD", "TELEMETRY_HOST", "TELEMETRY_PORT", "CONSOLE_PROCESSES"])
  })

  it("give the console a name for each role's pods and the way to their metrics, and to nothing else of them", () => {
    const objects = fleetSight("console")
    const of = (kind: string) => objects.filter((object) => object.kind === kind)
    assert.deepStrictEqual(
      of("Service").map(({ metadata }) => metadata.name),
      roleDeployments.map(({ name }) => `${name}-metrics`)
    )
    const viewer = { podSelector: { matchLabels: { "app.kubernetes.io/name": "console", ...partOfStarling } } }
    const all = { podSelector: { matchLabels: partOfStarling } }
    assert.deepStrictEqual(
      of("NetworkPolicy").map(({ spec }) => spec),
      [
        {
          ...all,
          policyTypes: ["Ingress"],
          ingress: [{ from: [viewer], ports: [{ port: "metrics", protocol: "TCP" }] }]
        },
        { ...viewer, policyTypes: ["Egress"], egress: [{ to: [all], ports: [{ port: 9_400, protocol: "TCP" }] }] }
      ]
    )
    assert.lengthOf(objects, of("Service").length + 2)
    const variable = /name: CONSOLE_PROCESSES\n\s+value: '(.*)'/u.exec(read("deploy/k8s/console/console.yaml"))?.[1]
    assert.deepStrictEqual(
      JSON.parse(variable ?? "[]"),
      roleDeployments.map(({ name }) => `http://${name}-metrics:9400`)
    )
  })

  it("let the console call the APIs that its page needs, on their open ports and nowhere else", () => {
    const apis = {
      podSelector: {
        matchExpressions: [
          { key: "app.kubernetes.io/name", operator: "In", values: ["pipeline-api", "model-gateway", "speech-api"] }
        ]
      }
    }
    const viewer = { podSelector: { matchLabels: { "app.kubernetes.io/name": "console", ...partOfStarling } } }
    const ports = [7_401, 7_402, 7_403].map((port) => ({ port, protocol: "TCP" }))
    assert.deepStrictEqual(
      wayToApis("console").map(({ spec }) => spec),
      [
        {
          ...apis,
          policyTypes: ["Ingress"],
          ingress: [{ from: [viewer], ports: [{ port: "http", protocol: "TCP" }] }]
        },
        { ...viewer, policyTypes: ["Egress"], egress: [{ to: [apis], ports }] }
      ]
    )
    const known = environmentKeys.map(({ variable }) => variable)
    const console = read("deploy/k8s/console/console.yaml")
    for (const [variable, service] of [
      ["CONSOLE_PIPELINE_URL", "pipeline-api"],
      ["CONSOLE_MODELS_URL", "model-gateway"],
      ["CONSOLE_SPEECH_URL", "speech-api"]
    ] as const) {
      assert.include(known, variable)
      assert.match(console, new RegExp(`name: ${variable}\\n\\s+value: http://${service}\\n`, "u"))
    }
  })

  it("keep payments on the servers that write before they confirm", () => {
    const placed = streamResources(topology).map(({ spec }) => spec as { name: string; placement: { cluster: string } })
    const money = placed.filter(({ placement }) => placement.cluster === "nats-payments").map(({ name }) => name)

    assert.deepStrictEqual(money.toSorted(), [...moneyStreams].toSorted())
  })

  it("give every age and window of a stream, because the streams' controller reads an empty age as a year", () => {
    const seconds = (text: string) => Number(/^(\d+(?:\.\d+)?)s$/u.exec(text)?.[1])
    for (const { spec } of streamResources(topology)) {
      const { name, maxAge, duplicateWindow } = spec as Record<"name" | "maxAge" | "duplicateWindow", string>
      assert.isAtLeast(seconds(maxAge), 0, name)
      assert.isAbove(seconds(duplicateWindow), 0, name)
      // The broker refuses a window that is longer than the messages live.
      if (seconds(maxAge) > 0) assert.isAtMost(seconds(duplicateWindow), seconds(maxAge), name)
    }
  })

  it("name each broker's server after its pod, because autoscalers look for a consumer's leader by it", () => {
    for (const { values } of natsValues(topology)) assert.notProperty(values.config, "serverNamePrefix")
  })

  it("run the brokers as a namespace that enforces `restricted` demands", () => {
    for (const { values } of natsValues(topology)) {
      assert.deepStrictEqual(values.podTemplate.merge.spec.securityContext, podSecurity)
      for (const { merge } of [values.container, values.reloader, values.promExporter]) {
        assert.deepStrictEqual(merge.securityContext, containerSecurity)
      }
    }
  })

  it("give the development broker a disk for all that its streams reserve", () => {
    const [, disk = "", memory = ""] =
      /max_file_store: (\d+)GiB, max_memory_store: (\d+)MiB/u.exec(devBrokerFile(topology)) ?? []

    assert.isAbove(reservedBytes(topology, "file"), 15 * 1_024 ** 3)
    assert.isAbove(Number(disk) * 1_024 ** 3, reservedBytes(topology, "file"))
    assert.isAbove(Number(memory) * 1_024 ** 2, reservedBytes(topology, "memory"))
  })

  it("scale on the backlog that is recorded as deliverable", () => {
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

  it.each(rights)("%s may not create, change, copy or delete a stream", (_, { publish }) => {
    const forbidden = /^\$JS\.API\.(?:STREAM\.(?:CREATE|UPDATE|DELETE|SNAPSHOT|RESTORE|LIST|NAMES)|>|\*)/u
    assert.isEmpty(publish.filter((subject) => forbidden.test(subject) || subject === ">" || subject === "$JS.>"))
  })

  it.each(rights)("%s receives no replies but its own", (party, { subscribe }) => {
    const inboxes = subscribe.filter((subject) => subject.startsWith("_INBOX"))
    assert.deepStrictEqual(inboxes, [`_INBOX_${party.replaceAll(" ", "-")}.>`])
  })

  it("let only pipeline-api and sweeper write the log, and only the settler its receipts", () => {
    const writers = (prefix: string) =>
      rights.filter(([, { publish }]) => publish.some((subject) => subject.startsWith(prefix))).map(([party]) => party)

    assert.deepStrictEqual(writers("log."), ["pipeline-api", "sweeper"])
    assert.deepStrictEqual(writers("receipts."), ["payment-settler"])
  })

  it("let only the operator and the console, where owners make and revoke them, write tokens", () => {
    const may = rights.filter(([, { publish }]) => publish.some((subject) => subject.startsWith("$KV.tokens.")))
    assert.deepStrictEqual(
      may.map(([party]) => party),
      ["console", "operator"]
    )
  })
})

/** Of the broker, or of Prometheus itself. */
const isOfNoRole = (metric: string) => metric.startsWith("nats_") || metric === "ALERTS" || metric === "up"

describe("the monitored metrics", () => {
  it.each(expressions)("exist, with their labels: %s", (_, expr) => {
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

  it("name in summaries and legends only labels that remain", () => {
    for (const { name, expr, summary } of alerts) {
      const used = [...summary.matchAll(/\$labels\.(\w+)/gu)].map(([, label = ""]) => label)
      const left =
        groupLabelsOf(expr).length > 0
          ? groupLabelsOf(expr)
          : selectorsOf(expr).flatMap(({ metric }) => labelsOf(metric) ?? [])
      assert.includeMembers([...left], used, name)
    }
    for (const { title, expr, legend, shape } of panels) {
      if (shape !== undefined) continue
      const used = [...legend.matchAll(/\{\{(\w+)\}\}/gu)].map(([, label = ""]) => label)
      const left =
        groupLabelsOf(expr).length > 0
          ? groupLabelsOf(expr)
          : selectorsOf(expr).flatMap(({ metric }) => labelsOf(metric) ?? [])
      assert.includeMembers([...left], used, title)
    }
  })

  it("are narrowed on a board by the namespace, and by each variable whose label they have", () => {
    for (const board of boards) {
      for (const panel of board.rows.flatMap((row) => row.panels)) {
        for (const { metric, labels } of expressionsOf(panel).flatMap((expr) => selectorsOf(asked(board, expr)))) {
          if (!metric.includes(":")) assert.include(labels, "namespace", `${panel.title}: ${metric}`)
          for (const { label } of board.variables) {
            // A recording names the labels that it keeps before its first colon.
            const known = metric.includes(":") ? (metric.split(":")[0] ?? "").split("_") : (labelsOf(metric) ?? [])
            const has = known.includes(label) && (label !== "role" || !isOfNoRole(metric))
            assert.strictEqual(labels.includes(label), has, `${board.uid}, ${panel.title}: ${metric} by ${label}`)
          }
        }
      }
    }
  })

  it("are narrowed by no variable that lists what the board does not show", () => {
    for (const { uid, variables, rows } of boards) {
      const all = rows.flatMap((row) => row.panels).flatMap(expressionsOf)
      const shown = new Set(all.flatMap((expr) => selectorsOf(expr).map(({ metric }) => metric)))
      for (const { label, of, narrows } of variables) {
        assert.isTrue(labelsOf(of)?.includes(label), `${uid}: ${of} has no ${label}`)
        for (const metric of narrows) assert.isTrue(shown.has(metric), `${uid}: ${metric} is on no panel`)
      }
    }
  })

  it("lead from a board's panels to the runbook of every alert", () => {
    const watched = { alerts, recordings }
    const linked = new Set(panels.flatMap((panel) => alertsOn(panel, watched).map(({ name }) => name)))
    assert.deepStrictEqual([...linked].toSorted(), alerts.map(({ name }) => name).toSorted())
    for (const board of boards) {
      const links = grafana(board, watched).panels.flatMap((panel) => ("links" in panel ? panel.links : []))
      for (const { url } of links) assert.match(url, /^\$\{runbooks\}#[a-z]+$/u)
    }
  })

  it("stand on a board one beside the other, within its width and without overlap", () => {
    for (const board of boards) {
      const places = grafana(board, { alerts: [], recordings: [] }).panels.map(({ gridPos }) => gridPos)
      for (const [index, one] of places.entries()) {
        assert.isAtMost(one.x + one.w, 24, board.uid)
        for (const other of places.slice(index + 1)) {
          const isApart =
            one.x + one.w <= other.x ||
            other.x + other.w <= one.x ||
            one.y + one.h <= other.y ||
            other.y + other.h <= one.y
          assert.isTrue(isApart, `${board.uid}: ${JSON.stringify([one, other])}`)
        }
      }
    }
  })

  it("have alerts that each lead to an existing heading", () => {
    for (const { rules } of ruleGroups.map(ruleGroup)) {
      for (const { alert, annotations } of rules.filter((rule) => "alert" in rule)) {
        const [page, anchor] = annotations.runbook_url.split("#")
        assert.strictEqual(page, runbooksUrl)
        const headings = [...read("docs/operations.md").matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) => heading)
        assert.include(
          headings.map((heading) => heading.toLowerCase().replaceAll(" ", "-")),
          anchor,
          alert
        )
      }
    }
  })

  it("have a runbook for every alert, with its meaning, what to look at and what to do", () => {
    const page = read("docs/operations.md")
    for (const { name } of alerts) {
      const section = page.split(`\n#### ${name}\n`)[1]?.split(/\n#{2,4} /u)[0]
      assert.isDefined(section, `docs/operations.md has no runbook for ${name}`)
      for (const part of ["Means:", "Look at:", "Do:"]) assert.include(section ?? "", part, name)
    }
  })

  it("have no runbook for a removed alert", () => {
    const written = [...read("docs/operations.md").matchAll(/^#### (\w+)$/gmu)].map(([, name]) => name)
    assert.deepStrictEqual(written.toSorted(), alerts.map(({ name }) => name).toSorted())
  })
})
