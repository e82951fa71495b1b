import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { type BusError, Nats } from "#bus"
import { type RateWindow, sharedWindow, type SharedWindowOptions } from "#http"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { later, standingAt } from "../../../support/clock.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"

const replicaOf = (server: TestNatsServer) => Layer.build(busOn(server))
type Replica = Effect.Success<ReturnType<typeof replicaOf>>

const windowOf = (replica: Replica, options: SharedWindowOptions) =>
  sharedWindow(options).pipe(Effect.provideContext(replica))
const hourly = { name: "challenges", limit: 30, windowMs: 3_600_000 }

const takenOf = (decisions: ReadonlyArray<{ readonly _tag: string }>) =>
  decisions.filter(({ _tag }) => _tag === "Taken").length

const takeMany = (windows: ReadonlyArray<RateWindow<BusError>>, count: number, key: string) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => windows[n % windows.length]?.take(key) ?? Effect.die("no window")),
    (take) => take,
    { concurrency: "unbounded" }
  )

describe("a rate window over all replicas", () => {
  it.live("grants exactly its limit to a burst, and says when there is room again", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replicas = [yield* replicaOf(server), yield* replicaOf(server)]
      const windows = yield* Effect.forEach(replicas, (replica) => windowOf(replica, hourly))
      const decisions = yield* takeMany(windows, 200, "w1")
      assert.strictEqual(takenOf(decisions), 30)
      for (const decision of decisions) {
        if (decision._tag === "Taken") continue
        assert.isAbove(decision.retryAfterMs, 3_590_000)
        assert.isAtMost(decision.retryAfterMs, 3_600_000)
      }
      const left = decisions.flatMap((each) => (each._tag === "Taken" ? [each.remaining] : []))
      assert.deepStrictEqual(
        left.toSorted((a, b) => a - b),
        Array.from({ length: 30 }, (_, n) => n)
      )
      assert.strictEqual(takenOf(yield* takeMany(windows, 2, "w2")), 2)

      const fresh = yield* windowOf(yield* replicaOf(server), hourly)
      assert.deepInclude(yield* fresh.take("w1"), { _tag: "Refused", limit: 30, remaining: 0 })
      assert.deepInclude(yield* later(3_601_000)(fresh.take("w1")), { _tag: "Taken" })
    }).pipe(Effect.scoped)
  )

  it.live("opens again at the named moment, by wall-clock time", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      const window = yield* windowOf(replica, { name: "minute", limit: 2, windowMs: 60_000 })
      const nowMs = yield* Clock.currentTimeMillis
      const takeAt = (afterMs: number) => standingAt(nowMs + afterMs)(window.take("a"))
      yield* takeAt(0)
      yield* takeAt(200)
      const refused = yield* takeAt(300)
      if (refused._tag === "Taken") return assert.fail("let a third one through")
      assert.strictEqual(refused.retryAfterMs, 59_700)
      assert.strictEqual((yield* takeAt(59_999))._tag, "Refused")
      assert.strictEqual((yield* takeAt(60_000))._tag, "Taken")
      assert.strictEqual((yield* takeAt(60_100))._tag, "Refused")
      assert.strictEqual((yield* takeAt(60_200))._tag, "Taken")
    }).pipe(Effect.scoped)
  )

  it.live("returns a place, at once on every replica", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const options = { ...hourly, limit: 1 }
      const here = yield* windowOf(yield* replicaOf(server), options)
      const there = yield* windowOf(yield* replicaOf(server), options)
      const taken = yield* here.take("w1")
      assert.strictEqual((yield* here.take("w1"))._tag, "Refused")
      assert.strictEqual((yield* there.take("w1"))._tag, "Refused")
      if (taken._tag === "Taken") yield* here.giveBack("w1", taken)
      const again = yield* here.take("w1")
      assert.strictEqual(again._tag, "Taken")
      if (again._tag === "Taken") yield* here.giveBack("w1", again)
      assert.strictEqual((yield* there.take("w1"))._tag, "Taken")
    }).pipe(Effect.scoped)
  )

  it.live("forgets a key after its window, and stores none in plain text", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server)
      const window = yield* windowOf(replica, { name: "short", limit: 5, windowMs: 500 })
      yield* window.take("203.0.113.7 > *")
      const nats = Context.get(replica, Nats)
      const keys = Effect.map(
        nats.use("read", ({ manager }) => manager.streams.info("KV_rate-windows", { subjects_filter: ">" })),
        ({ state }) => Object.keys(state.subjects ?? {})
      )
      const [key = ""] = yield* keys
      assert.match(key, /^\$KV\.rate-windows\.short\.[0-9a-f]{64}$/u)
      yield* eventually(keys, { is: (left) => left.length === 0 })
    }).pipe(Effect.scoped)
  )

  it.live("fails within seconds when the broker is unreachable", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server)
      const window = yield* windowOf(replica, hourly)
      yield* Effect.promise(() => server.kill9())
      const begunAt = performance.now()
      const all = yield* Effect.forEach(
        Array.from({ length: 20 }, () => Effect.flip(window.take("w1"))),
        (failed) => failed,
        { concurrency: "unbounded" }
      )
      assert.isBelow(performance.now() - begunAt, 4_500)
      for (const failed of all) assert.strictEqual(failed._tag, "BusUnavailable")
    }).pipe(Effect.scoped)
  )

  it.live("cannot be created with an invalid limit or name", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      for (const wrong of [{ limit: 301 }, { limit: 0 }, { windowMs: 86_400_001 }, { name: "a.b" }]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(windowOf(replica, { ...hourly, ...wrong }))))
      }
    }).pipe(Effect.scoped)
  )

  it.live("holds at its largest, with four replicas at once", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replicas = yield* Effect.forEach([1, 2, 3, 4], () => replicaOf(server))
      const options = { name: "full", limit: 300, windowMs: 3_600_000 }
      const windows = yield* Effect.forEach(replicas, (replica) => windowOf(replica, options))
      assert.strictEqual(takenOf(yield* takeMany(windows, 330, "w1")), 300)
    }).pipe(Effect.scoped)
  )
})
