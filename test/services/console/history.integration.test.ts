/** What the console counts is kept in KV by one of several, and known to one that starts later. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { Kv, Leases } from "#bus"
import { HistorySpan, minute } from "#console/history"
import type { Scan } from "#console/readings"
import { Timeline } from "../../../services/console/Timeline.ts"
import { FleetHistory } from "../../../services/console/FleetHistory.ts"
import { parseExposition, type Reading } from "../../../libs/console/readings/readings.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"

const attempts = (atMs: number, ok: number): Reading => ({
  atMs,
  targets: new Map([
    [
      "a",
      parseExposition(
        `bus_connected{role="webhook-dispatcher"} 1\nwebhook_attempts_total{endpoint="shop",status_class="2xx"} ${ok}`
      )
    ]
  ])
})

/** A console's process on that broker. */
const consoleOn = (server: TestNatsServer) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const context = yield* Layer.buildWithScope(
      Timeline.layer.pipe(Layer.provideMerge(FleetHistory.layer), Layer.provideMerge(busOn(server)), Layer.fresh),
      scope
    )
    const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideContext(effect, context)
    const history = Context.get(context, FleetHistory)
    const shop = Effect.map(
      history.view({ kind: "endpoint", id: "shop", range: "hour" }),
      ({ items: [found] }) => found?.calls ?? 0
    )
    const kept = run(
      Effect.flatMap(Kv, (kv) => Effect.flatMap(kv.open("history", HistorySpan), (bucket) => bucket.entries))
    )
    const holders = run(Effect.flatMap(Leases, ({ held }) => Effect.map(held, (all) => all.map(({ key }) => key))))
    const timeline = Context.get(context, Timeline)
    return { history, timeline, shop, kept, holders, stop: Scope.close(scope, Exit.void) }
  })

/** A look at a fleet in which these breakers are open. */
const look = (atMs: number, ...breakersOpen: ReadonlyArray<string>) =>
  ({
    frame: { breakersOpen, roles: [] } as unknown as Scan["frame"],
    reading: { atMs, targets: new Map() },
    targets: [],
    readiness: new Map()
  }) satisfies Scan

describe("the timeline of a fleet", () => {
  it.live("has what several consoles saw once, and is known to the next", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const first = yield* consoleOn(server)
      yield* eventually(first.holders, { is: (keys) => keys.includes("console-history") })
      const second = yield* consoleOn(server)
      const nowMs = yield* Clock.currentTimeMillis
      for (const { timeline } of [first, second]) {
        yield* timeline.add(look(nowMs), [])
        yield* timeline.add(look(nowMs + 1_000, "endpoint demo"), [])
      }
      const third = yield* consoleOn(server)
      for (const { timeline } of [first, second, third]) {
        const all = yield* timeline.all
        assert.deepStrictEqual(
          all.map(({ change, what }) => [change, what]),
          [["opened", "The breaker of endpoint demo opened"]]
        )
      }
    }).pipe(Effect.scoped)
  )
})

describe("the history of a fleet", () => {
  it.live("is written once by several consoles, goes on when the writer is gone, and is known to the next", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const nowMinute = Math.floor((yield* Clock.currentTimeMillis) / minute.ms)
      const startMs = (nowMinute - 3) * minute.ms
      const first = yield* consoleOn(server)
      yield* eventually(first.holders, { is: (keys) => keys.includes("console-history") })
      const second = yield* consoleOn(server)

      for (const [seconds, ok] of [
        [0, 100],
        [30, 110],
        [60, 120]
      ] as const) {
        for (const { history } of [first, second]) yield* history.add(attempts(startMs + seconds * 1_000, ok))
      }
      const written = yield* first.kept
      assert.deepStrictEqual(
        written.map(({ key, value }) => [key, value.number, value.seconds]),
        [[`m.${(nowMinute - 3) % minute.kept}`, nowMinute - 3, 60]]
      )
      assert.deepStrictEqual(written[0]?.value.things["endpoint/shop"], [20, 0])

      yield* first.stop
      yield* eventually(second.holders, { is: (keys) => keys.includes("console-history") })
      yield* second.history.add(attempts(startMs + 90_000, 125))
      yield* second.history.add(attempts(startMs + 120_000, 130))
      const after = yield* eventually(
        Effect.tap(second.kept, () => second.history.add(attempts(startMs + 125_000, 130))),
        { is: (entries) => entries.length === 2 }
      )
      assert.deepStrictEqual(
        after.map(({ value }) => value.things["endpoint/shop"]),
        [
          [20, 0],
          [10, 0]
        ]
      )

      const third = yield* consoleOn(server)
      yield* eventually(third.shop, { is: (calls) => calls === 30 })
    }).pipe(Effect.scoped)
  )

  it.live("goes on in memory while the broker is away, and is written when it is back", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const startMs = (Math.floor((yield* Clock.currentTimeMillis) / minute.ms) - 2) * minute.ms
      const { history, shop, kept, holders } = yield* consoleOn(server)
      yield* eventually(holders, { is: (keys) => keys.includes("console-history") })
      yield* history.add(attempts(startMs, 5))
      yield* Effect.promise(() => server.kill9())
      yield* history.add(attempts(startMs + 60_000, 15))
      assert.strictEqual(yield* shop, 10)
      yield* Effect.promise(() => server.start())
      yield* eventually(
        Effect.andThen(
          history.add(attempts(startMs + 61_000, 15)),
          Effect.orElseSucceed(kept, () => [])
        ),
        { is: (entries) => entries.length === 1, withinMs: 30_000 }
      )
    }).pipe(Effect.scoped)
  )
})
