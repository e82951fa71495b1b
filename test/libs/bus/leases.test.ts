import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BusNotFound, Leases, Nats, RevisionConflict, StreamReader } from "#bus"
import type { StreamWrite } from "../../../libs/bus/connection/stream-calls.ts"
import { failingAtEach, type Recorder, recorder, told } from "../../support/recorder.ts"

interface Held {
  readonly seq: number
  readonly untilMs: number
}

/** The lease as the broker holds it, by the test's clock. */
const bucket = ({ call }: Recorder) => {
  const state = { sequence: 0, last: undefined as Held | undefined }
  const livesSeconds: Array<string> = []
  const held = Effect.map(Clock.currentTimeMillis, (nowMs) =>
    state.last !== undefined && nowMs < state.last.untilMs ? state.last : undefined
  )
  const write = (_: string, { headers }: StreamWrite) =>
    call(
      "write",
      Effect.gen(function* () {
        if (Number(headers.get("Nats-Expected-Last-Subject-Sequence")) !== ((yield* held)?.seq ?? 0))
          return yield* new RevisionConflict({ operation: "hold a lease", detail: "another holds it" })
        livesSeconds.push(headers.get("Nats-TTL"))
        const untilMs = (yield* Clock.currentTimeMillis) + 3_000
        state.last = { seq: (state.sequence += 1), untilMs }
        return { stream: "KV_leases", sequence: state.sequence, duplicate: false }
      })
    )
  const streams = {
    getMessage: () =>
      call(
        "look",
        Effect.filterOrFail(
          held,
          (found) => found !== undefined,
          () => new BusNotFound({ operation: "look", detail: "no message" })
        )
      ),
    purge: () =>
      call(
        "remove",
        Effect.sync(() => void (state.last = undefined))
      )
  }
  const use = (_: string, ask: (clients: unknown) => unknown) => ask({ manager: { streams } })
  const layer = Leases.layer.pipe(
    Layer.provide([
      Layer.succeed(Nats, { write, use } as unknown as Nats["Service"]),
      Layer.succeed(StreamReader, {} as StreamReader["Service"])
    ])
  )
  /** Another process holds it from now on, for good. */
  const take = () => (state.last = { seq: (state.sequence += 10), untilMs: Number.POSITIVE_INFINITY })
  return { state, held, take, livesSeconds, layer }
}

const holding = (work: Effect.Effect<unknown>, onWait?: () => void) =>
  Effect.flatMap(Leases, ({ whileHeld }) =>
    whileHeld({ key: "job", holder: "first", ...(onWait === undefined ? {} : { onWait }) }, work)
  )

describe("a lease", () => {
  it.effect("ends three seconds after its last renewal, whatever becomes of its holder", () =>
    Effect.gen(function* () {
      const { layer, livesSeconds } = bucket(recorder())
      const fiber = yield* Effect.forkChild(Effect.provide(holding(Effect.never), layer))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(livesSeconds, ["3s", "3s", "3s", "3s", "3s", "3s"])
    })
  )

  it.effect("is given back by a holder that ends", () =>
    Effect.gen(function* () {
      const { layer, held } = bucket(recorder())
      const fiber = yield* Effect.forkChild(Effect.provide(holding(Effect.never), layer))
      yield* TestClock.adjust("2 seconds")
      assert.isDefined(yield* held)
      yield* Fiber.interrupt(fiber)
      assert.isUndefined(yield* held)
    })
  )

  it.effect("that is another's by then stays with that one when its former holder ends", () =>
    Effect.gen(function* () {
      const { layer, held, take } = bucket(recorder())
      const fiber = yield* Effect.forkChild(Effect.provide(holding(Effect.never), layer))
      yield* TestClock.adjust("1 millis")
      const taken = take()
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* held, taken)
    })
  )

  it.effect("that is lost stops its holder's work, which continues when it is free again", () =>
    Effect.gen(function* () {
      let atWork = 0
      let waited = 0
      const work = Effect.acquireUseRelease(
        Effect.sync(() => (atWork += 1)),
        () => Effect.never,
        () => Effect.sync(() => (atWork -= 1))
      )
      const { layer, state, take } = bucket(recorder())
      const fiber = yield* Effect.forkChild(
        Effect.provide(
          holding(work, () => (waited += 1)),
          layer
        )
      )
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(atWork, 1)
      take()
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(atWork, 0)
      assert.isAbove(waited, 0)
      state.last = undefined
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(atWork, 1)
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("is held again within its life and two seconds, whichever question to the broker fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const { layer, held } = bucket(record)
          const fiber = yield* Effect.forkChild(Effect.provide(holding(Effect.never), layer))
          yield* TestClock.adjust("2 seconds")
          // Each later one is as any other.
          const isEarly = record.failedAt() !== undefined
          yield* TestClock.adjust("5 seconds")
          const isHeld = (yield* held) !== undefined
          yield* Fiber.interrupt(fiber)
          return isHeld || !isEarly
        })
      )
      assert.isAbove(runs.length, 4)
      for (const run of runs) assert.deepStrictEqual(run.exit, Exit.succeed(true), told(run))
    })
  )
})
