import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Kv, Nats } from "#bus"
import { type SettledLimit, settledLimit, takeOrRefuse } from "#http"
import { Metrics } from "#runtime"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { later } from "../../../support/clock.ts"

const minuteMs = 60_000
const hourMs = 3_600_000
const windows = [
  { name: "minute", limit: 10, windowMs: minuteMs },
  { name: "hour", limit: 25, windowMs: hourMs }
] as const

const replicaOf = (server: TestNatsServer) => Layer.build(busOn(server))
type Replica = Effect.Success<ReturnType<typeof replicaOf>>
const limitOn = (replica: Replica) => settledLimit(windows).pipe(Effect.provideContext(replica))

const takenOf = (limit: SettledLimit, count: number, key = "203.0.113.7") =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), () => limit.take(key), { concurrency: "unbounded" }),
    (decisions) => decisions.filter(({ _tag }) => _tag === "Taken").length
  )

/** How many takes of the key the store has. */
const storedOf = (replica: Replica) =>
  Effect.gen(function* () {
    const bucket = yield* Context.get(replica, Kv).open("rate-windows", Schema.Array(Schema.Int))
    const found = yield* bucket.get(`hour.${hash("sha256", "203.0.113.7", "hex")}`)
    return Option.match(found, { onNone: () => 0, onSome: ({ value }) => value.length })
  })

const headersOf = ({ limit }: { readonly limit: number }) => ({ "x-limit": String(limit) })

describe("a settled limit", () => {
  it.live("lets exactly its limit pass in one replica, and names the window that refuses", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      const limit = yield* limitOn(replica)
      assert.strictEqual(yield* takenOf(limit, 40), 10)
      const refused = yield* Effect.flip(takeOrRefuse(limit, "203.0.113.7", headersOf))
      assert.deepInclude(refused, { status: 429, code: "rate_limited" })
      assert.deepInclude(refused.details, { source: "minute" })
      assert.deepInclude(refused.headers, { "x-limit": "10" })
      assert.strictEqual(yield* takenOf(limit, 1, "203.0.113.8"), 1)

      assert.strictEqual(yield* later(minuteMs + 1_000)(takenOf(limit, 40)), 10)
      assert.strictEqual(yield* later(2 * minuteMs + 2_000)(takenOf(limit, 40)), 5)
      const byTheHour = yield* Effect.flip(later(2 * minuteMs + 2_000)(takeOrRefuse(limit, "203.0.113.7", headersOf)))
      assert.deepInclude(byTheHour.details, { source: "hour" })
      const text = yield* Context.get(replica, Metrics).text
      assert.match(text, /http_shared_rate_takes_total\{[^}]*window="minute",outcome="taken"\} 26/u)
      assert.match(text, /http_shared_rate_takes_total\{[^}]*window="hour",outcome="refused"\} 36/u)
    }).pipe(Effect.scoped)
  )

  it.live("lets two replicas at once exceed it, but neither its own limit, and then refuses at both", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server)
      const [here, there] = [yield* limitOn(replica), yield* limitOn(yield* replicaOf(server))]
      assert.strictEqual(yield* takenOf(here, 40), 10)
      assert.isAtMost(yield* takenOf(there, 40), 10)
      yield* eventually(storedOf(replica), { is: (stored) => stored > 10 })
      // The hour has 25: what is left of it passes, and what each lets pass before it hears of the other.
      const nextMinute = later(minuteMs + 1_000)
      assert.isAtMost((yield* nextMinute(takenOf(here, 40))) + (yield* nextMinute(takenOf(there, 40))), 20)
      const byTheHour = (limit: SettledLimit) =>
        Effect.map(
          later(2 * minuteMs + 2_000)(limit.take("203.0.113.7")),
          (decision) => decision._tag === "Refused" && decision.window === "hour"
        )
      yield* eventually(byTheHour(here))
      yield* eventually(byTheHour(there))
    }).pipe(Effect.scoped)
  )

  it.live("exceeds it by no more than the one call of the last interval, for calls that are an interval apart", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server)
      const limits = [yield* limitOn(replica), yield* limitOn(yield* replicaOf(server))]
      let passed = 0
      for (let call = 0; call < 14; call++) {
        const taken = yield* limits[call % 2]?.take("203.0.113.7") ?? Effect.die("no limit")
        if (taken._tag === "Refused") continue
        passed += 1
        yield* eventually(storedOf(replica), { is: (stored) => stored === passed })
      }
      assert.isAtLeast(passed, 10)
      assert.isAtMost(passed, 11)
    }).pipe(Effect.scoped)
  )

  it.live("settles what it has counted when its scope ends, and keeps no key in plain text", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server)
      yield* Effect.scoped(Effect.flatMap(limitOn(replica), (limit) => takenOf(limit, 10)))
      const subjects = yield* Context.get(replica, Nats).use("read", ({ manager }) =>
        manager.streams.info("KV_rate-windows", { subjects_filter: ">" })
      )
      const keys = Object.keys(subjects.state.subjects ?? {})
      assert.strictEqual(keys.length, 1)
      assert.match(keys[0] ?? "", /^\$KV\.rate-windows\.hour\.[0-9a-f]{64}$/u)
      const next = yield* limitOn(yield* replicaOf(server))
      yield* eventually(next.take("203.0.113.7"), { is: ({ _tag }) => _tag === "Refused" })
    }).pipe(Effect.scoped)
  )

  it.live("refuses with 503 within seconds once the broker is gone, and counts again when it is back", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server)
      const limit = yield* limitOn(replica)
      assert.strictEqual(yield* takenOf(limit, 1), 1)
      yield* Effect.promise(() => server.kill9())
      // Each address asks once: none comes near its limit.
      let address = 0
      const ask = Effect.suspend(() => Effect.result(takeOrRefuse(limit, `198.51.100.${(address += 1)}`, headersOf)))
      const refused = Effect.map(ask, (result) => result._tag === "Failure" && result.failure.status === 503)
      yield* eventually(refused)
      const text = yield* Context.get(replica, Metrics).text
      assert.match(text, /http_shared_rate_takes_total\{[^}]*window="hour",outcome="failed"\} [1-9]/u)
      yield* Effect.promise(() => server.start())
      yield* eventually(ask, { is: ({ _tag }) => _tag === "Success" })
      assert.isAtMost(yield* takenOf(limit, 40), 9)
    }).pipe(Effect.scoped)
  )
})
