/** A broker whose disk is full and has room again, on a real small file system. */
import { execFileSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { applyTopology, busServices, Nats, partOf, Publisher, streamOf, topology } from "#bus"
import { Environment, Health, Metrics, MetricsRegistry, Role } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { findTestBinary } from "../../../../dev/fixtures/nats-server.ts"
import { tryBroker } from "../../../../libs/bus/trials.ts"
import { keeperUser } from "../../../../services/fleet/nats-server/configuration.ts"
import { NatsServer } from "../../../../services/fleet/nats-server/NatsServer.ts"
import { stream } from "../../../support/webhooks.ts"

const mount = (path: string) => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=96m", "starling-test", path], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const folder = mkdtempSync(join(tmpdir(), "starling-disk-"))
const isMounted = mount(folder)
const ballast = join(folder, "ballast")

const remove = Effect.sync(() => {
  if (isMounted) execFileSync("umount", [folder])
  rmSync(folder, { recursive: true, force: true })
})

const fill = () => {
  const file = openSync(ballast, "w")
  try {
    for (;;) writeSync(file, new Uint8Array(4_096))
  } catch {
    closeSync(file)
  }
}

/** What a sweeper uses, of the streams that have no limit. */
const part = partOf(topology, "sweeper")
const small = { ...part, streams: part.streams.filter(({ bytesMax }) => bytesMax === null) }

const checks = Effect.flatMap(Health, ({ ready }) => Effect.map(ready, (report) => report.checks))
const checkIs = (expected: RegExp) =>
  eventually(checks, { is: (found) => expected.test(found["streams sweeper"] ?? "") })

describe("a broker whose disk is full and has room again", () => {
  it.live.skipIf(!isMounted)(
    "makes its roles unready, is restarted, and has lost nothing that it confirmed (left out where no tmpfs can be mounted)",
    () =>
      Effect.gen(function* () {
        const { passwordOf, pid, url, writeError } = yield* NatsServer
        const password = Redacted.make(passwordOf(keeperUser))
        yield* applyTopology(small, { mode: "create", replicas: 1 }).pipe(
          Effect.provide(
            Nats.layerWith({ servers: [url], name: "test", user: keeperUser, password }).pipe(
              Layer.provide(Metrics.layerTest)
            )
          )
        )
        const first = yield* pid
        const sweeper = { name: "sweeper", user: "sweeper", password: Redacted.make(passwordOf("sweeper")) }
        const bus = busServices.pipe(
          Layer.provideMerge(Layer.effectDiscard(tryBroker(small))),
          Layer.provideMerge(Nats.layerWith({ servers: [url], ...sweeper, streamOf })),
          Layer.provide(Metrics.layer),
          Layer.provide(Layer.succeed(Role, "sweeper"))
        )
        yield* Effect.gen(function* () {
          const { publishRaw } = yield* Publisher
          const confirmed: Array<number> = []
          const write = Effect.map(publishRaw("log.trial.one", new Uint8Array(2_000)), ({ sequence }) => {
            confirmed.push(sequence)
          })
          yield* (yield* Health).started
          yield* Effect.forEach(Array.from({ length: 50 }), () => write, { discard: true })
          yield* checkIs(/^ok$/u)

          fill()
          yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(write), Effect.sleep("100 millis"))))
          yield* checkIs(/^cannot write (?:LOG|KV_leases): /u)
          assert.match((yield* writeError) ?? "", /write error: .* no space left on device/u)
          const before = confirmed.length

          rmSync(ballast)
          yield* eventually(pid, { is: (now) => now !== first })
          yield* checkIs(/^ok$/u)
          yield* eventually(() => confirmed.length, { is: (length) => length > before })
          yield* eventually(writeError, { is: (reason) => reason === undefined })
          const kept = new Set((yield* stream("LOG")).map(({ sequence }) => sequence))
          assert.deepStrictEqual(
            confirmed.filter((sequence) => !kept.has(sequence)),
            []
          )
        }).pipe(Effect.provide(bus))
      }).pipe(
        Effect.provide(
          NatsServer.layer({ folder, port: 0 }).pipe(
            Layer.provideMerge(Layer.mergeAll(Health.layer, MetricsRegistry.layerEmpty))
          )
        ),
        Effect.provideService(Environment, { ...process.env, STARLING_NATS_SERVER: findTestBinary() }),
        Effect.ensuring(remove)
      )
  )
})
