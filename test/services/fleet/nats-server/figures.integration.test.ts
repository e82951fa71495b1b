import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { applyTopology, Nats, topology } from "#bus"
import { Environment, Metrics } from "#runtime"
import { parseExposition } from "#console/readings"
import { keeperUser } from "../../../../services/fleet/nats-server/configuration.ts"
import { brokerFigures } from "../../../../services/fleet/nats-server/figures.ts"
import { NatsServer } from "../../../../services/fleet/nats-server/NatsServer.ts"
import { fromBroker } from "../../../deploy/declared-metrics.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-figures-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("the embedded broker", () => {
  it.live("shows its figures under the exporter's names, and continues when it is killed and comes back", () =>
    Effect.gen(function* () {
      const home = yield* folder
      yield* Effect.gen(function* () {
        const { figures, passwordOf, pid, url } = yield* NatsServer
        const password = Redacted.make(passwordOf(keeperUser))
        yield* applyTopology(topology, { mode: "create", replicas: 1 }).pipe(
          Effect.provide(
            Nats.layerWith({ servers: [url], name: "test", user: keeperUser, password }).pipe(
              Layer.provide(Metrics.layerTest)
            )
          )
        )

        const shown = parseExposition(yield* figures)
        assert.deepStrictEqual([...shown.keys()].toSorted(), Object.keys(fromBroker).toSorted())
        for (const [name, labels] of Object.entries(fromBroker)) {
          for (const sample of shown.get(name) ?? []) assert.containsAllKeys(sample.labels, labels, name)
        }
        const streams = (shown.get("nats_stream_total_messages") ?? []).map(({ labels }) => labels["stream_name"])
        assert.includeMembers(
          streams,
          topology.streams.map(({ name }) => name)
        )
        assert.isAbove(shown.get("nats_server_max_storage")?.[0]?.value ?? 0, 0)

        const before = yield* pid
        process.kill(before, "SIGKILL")
        yield* eventually(pid, { is: (now) => now !== before })
        yield* eventually(figures, { is: (text) => text.includes("nats_stream_total_messages{") })
        assert.strictEqual(readdirSync(home).filter((file) => file.endsWith(".ports")).length, 1)
      }).pipe(Effect.provide(NatsServer.layer({ folder: home, port: 0 })))
    }).pipe(Effect.provideService(Environment, process.env))
  )

  it("shows nothing for an answer that is not its own", () => {
    for (const text of ["", "{}", "<html>", '{"server_name":"x"}']) assert.strictEqual(brokerFigures(text, text), "")
  })
})
