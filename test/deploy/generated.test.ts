import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { configsOf, coreSubjects, parties, permissionsOf, reservedBytes, topology } from "#bus"
import { environmentKeys } from "#configuration"
import { roleNames } from "#base"
import { devBrokerFile } from "../../deploy/generate/dev-broker.ts"
import { generatedFiles, ruleGroups } from "../../deploy/generate/files.ts"
import { natsValues } from "../../deploy/generate/nats-values.ts"
import { fleetSight, wayToApis } from "../../deploy/generate/network.ts"
import { containerSecurity, partOfStarling, brokerSecurity } from "../../deploy/generate/objects.ts"
import { roleDeployments } from "../../deploy/generate/roles.ts"
import { deliverableBacklog } from "../../deploy/generate/scaling.ts"
import { moneyStreams, streamResources } from "../../deploy/generate/streams.ts"
import { repository } from "./tools.ts"

const read = (path: string) => readFileSync(join(repository, path), "utf8")

const streams = streamResources(topology).filter(({ kind }) => kind === "Stream")

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
    const placed = streams.map(({ spec }) => spec as { name: string; placement: { cluster: string } })
    const money = placed.filter(({ placement }) => placement.cluster === "nats-payments").map(({ name }) => name)

    assert.deepStrictEqual(money.toSorted(), [...moneyStreams].toSorted())
  })

  it("have each consumer that is made with its stream, for the user who takes from it, and leave it when the object goes", () => {
    const made = streamResources(topology).flatMap(({ kind, metadata, spec }) =>
      kind === "Consumer" ? [{ name: metadata.name, spec }] : []
    )

    assert.deepStrictEqual(made, [
      {
        name: "reports-pipeline-api",
        spec: {
          streamName: "REPORTS",
          durableName: "pipeline-api",
          deliverPolicy: "all",
          replayPolicy: "instant",
          ackPolicy: "explicit",
          ackWait: "5s",
          maxAckPending: 10_000,
          maxDeliver: -1,
          preventDelete: true
        }
      },
      {
        name: "speech-jobs-speech-api",
        spec: {
          streamName: "SPEECH_JOBS",
          durableName: "speech-api",
          deliverPolicy: "all",
          replayPolicy: "instant",
          ackPolicy: "explicit",
          ackWait: "5s",
          maxAckPending: 1_000,
          maxDeliver: -1,
          preventDelete: true
        }
      }
    ])
  })

  it("give every age and window of a stream, because the streams' controller reads an empty age as a year", () => {
    const seconds = (text: string) => Number(/^(\d+(?:\.\d+)?)s$/u.exec(text)?.[1])
    for (const { spec } of streams) {
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
      assert.deepStrictEqual(values.podTemplate.merge.spec.securityContext, brokerSecurity)
      for (const { merge } of [values.container, values.reloader, values.promExporter]) {
        assert.deepStrictEqual(merge.securityContext, containerSecurity)
      }
    }
  })

  it("give the development broker a disk for all that its streams reserve", () => {
    const [, disk = "", memory = ""] =
      /max_file_store: (\d+)GiB, max_memory_store: (\d+)MiB/u.exec(devBrokerFile(topology)) ?? []

    assert.isAbove(reservedBytes(configsOf(topology, 1), "file"), 15 * 1_024 ** 3)
    assert.isAbove(Number(disk) * 1_024 ** 3, reservedBytes(configsOf(topology, 1), "file"))
    assert.isAbove(Number(memory) * 1_024 ** 2, reservedBytes(configsOf(topology, 1), "memory"))
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
