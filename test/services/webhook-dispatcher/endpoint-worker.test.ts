import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ack, nak } from "#bus"
import {
  endpointBreakerLimits,
  endpointWorker,
  entityOrder,
  type WorkerServices
} from "../../../services/webhook-dispatcher/endpoint-worker.ts"
import type { EndpointSettings } from "../../../services/webhook-dispatcher/endpoints/settings.ts"

/** A worker at a receiver that takes all, with what was sent; `may`: whether anything may be sent. */
const workerAt = (state: { may: boolean; withdraws?: number }) => {
  const sent: Array<number> = []
  const answered = { result: { _tag: "Answered", status: 204 }, error: undefined }
  const withdrawn = { result: { _tag: "Unanswered" }, error: { _tag: "Withdrawn" } }
  const services = {
    attempts: {
      attempt: (_: unknown, { delivery }: { readonly delivery: { readonly sequence: number } }, leaving: Leaves) =>
        Effect.sync(() => {
          state.may = state.may && (state.withdraws ?? 0) === 0
          if (!leaving.mayLeave()) return withdrawn
          leaving.onLeave()
          sent.push(delivery.sequence)
          return answered
        }),
      conclude: () => Effect.succeed(ack)
    },
    metrics: { left: () => undefined, postponed: () => undefined },
    breakerLimits: endpointBreakerLimits,
    mayLeave: () => state.may
  }
  const settings = { name: "a", hasBreaker: false } as EndpointSettings
  const worker = endpointWorker(settings, services as unknown as WorkerServices)
  const take = (sequence: number) =>
    worker.handle({ value: { delivery: { sequence, attempt: 1, entity: "workItem:a" } } } as never)
  return { sent, worker, take }
}
interface Leaves {
  readonly mayLeave: () => boolean
  readonly onLeave: () => void
}

describe("deliveries that a process has taken while it may send nothing", () => {
  it.effect("wait there, and are sent in the order of their arrival once it may", () =>
    Effect.gen(function* () {
      const state = { may: false }
      const { sent, take } = workerAt(state)
      const taken = yield* Effect.forEach([1, 2, 3], (sequence) => Effect.forkChild(take(sequence)))
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(sent, [])
      state.may = true
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, [1, 2, 3])
      assert.deepStrictEqual(yield* Effect.forEach(taken, Fiber.join), [ack, ack, ack])
    })
  )

  it.effect("are sent again where they were when one was about to leave, before those behind it", () =>
    Effect.gen(function* () {
      const state = { may: true, withdraws: 1 }
      const { sent, take } = workerAt(state)
      const taken = yield* Effect.forEach([1, 2], (sequence) => Effect.forkChild(take(sequence)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, [])
      Object.assign(state, { may: true, withdraws: 0 })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, [1, 2])
      assert.deepStrictEqual(yield* Effect.forEach(taken, Fiber.join), [ack, ack])
    })
  )

  it.effect("are handed back when that lasts, or at once when the endpoint is stopped", () =>
    Effect.gen(function* () {
      const { sent, take, worker } = workerAt({ may: false })
      const late = yield* Effect.forkChild(take(1))
      yield* TestClock.adjust("11 seconds")
      assert.deepStrictEqual(yield* Fiber.join(late), nak(1_000))
      const stopped = yield* Effect.forkChild(take(2))
      yield* TestClock.adjust("1 second")
      yield* worker.stop
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(stopped), nak(1_000))
      assert.deepStrictEqual(sent, [])
    })
  )
})

/** A worker whose attempts go as the test says. */
const workerWhose = (attempt: (sequence: number, leaving: Leaves) => Effect.Effect<unknown>) => {
  const services = {
    attempts: {
      attempt: (_: unknown, { delivery }: { readonly delivery: { readonly sequence: number } }, leaving: Leaves) =>
        attempt(delivery.sequence, leaving),
      conclude: () => Effect.succeed(ack)
    },
    metrics: { left: () => undefined, postponed: () => undefined },
    breakerLimits: endpointBreakerLimits,
    mayLeave: () => true
  }
  const retry = { waitsMs: [1_000], jitter: 0, retryAfterMsMax: 0 }
  const settings = { name: "a", hasBreaker: false, retry } as unknown as EndpointSettings
  const worker = endpointWorker(settings, services as unknown as WorkerServices)
  return (sequence: number, attemptNumber = 1) =>
    worker.handle({
      value: { delivery: { sequence, attempt: attemptNumber, entity: "workItem:a", dueAt: 0 } }
    } as never)
}

describe("an endpoint that fails", () => {
  /** A worker whose breaker opens at the second failure, for a second; `told`: what others hear of it. */
  const failing = () => {
    const state = { status: 500, hangs: false }
    const told: Array<readonly [what: string, untilMs: number | null]> = []
    const sent: Array<number> = []
    const services = {
      attempts: {
        attempt: (_: unknown, { delivery }: { readonly delivery: { readonly sequence: number } }) =>
          Effect.suspend(() => {
            sent.push(delivery.sequence)
            if (state.hangs) return Effect.never
            return Effect.succeed({ result: { _tag: "Answered", status: state.status }, error: undefined })
          }),
        conclude: () => Effect.succeed(ack)
      },
      metrics: { left: () => undefined, postponed: (_: unknown, why: string) => void told.push([why, null]) },
      states: { breakerOpen: (_id: string, _name: string, until: number | null) => tell("share", until) },
      pauseUntil: (until: number) => tell("hold", until),
      breakerLimits: { failuresToOpen: 2, failingMsToOpen: 0, pauseMsMin: 1_000, pauseMsMax: 1_000 },
      mayLeave: () => true
    }
    const tell = (what: string, until: number | null) => Effect.sync(() => void told.push([what, until]))
    const retry = { waitsMs: [1_000], jitter: 0, retryAfterMsMax: 0 }
    const settings = { id: "id", name: "a", hasBreaker: true, retry } as unknown as EndpointSettings
    const worker = endpointWorker(settings, services as unknown as WorkerServices)
    const take = (sequence: number) =>
      worker.handle({ value: { delivery: { sequence, attempt: 1, dueAt: 0 } } } as never)
    return { state, told, sent, take, worker }
  }

  it.effect("is not called for a while, in all processes, and taken up by one delivery", () =>
    Effect.gen(function* () {
      const { state, told, sent, take, worker } = failing()
      yield* take(1)
      assert.deepStrictEqual(told, [])
      yield* take(2)
      assert.deepStrictEqual(told.splice(0), [
        ["hold", 1_000],
        ["share", 1_000]
      ])
      yield* TestClock.adjust(400)
      assert.deepStrictEqual(yield* take(3), nak(600))
      assert.deepStrictEqual([sent, told.splice(0)], [[1, 2], [["circuit_open", null]]])
      yield* TestClock.adjust(600)
      state.status = 204
      assert.deepStrictEqual(yield* take(3), ack)
      assert.deepStrictEqual(told, [["share", null]])
      assert.isTrue(worker.breaker.isPristine())
    })
  )

  it.effect("is taken up by another delivery when the one that did so is broken off", () =>
    Effect.gen(function* () {
      const { state, sent, take, worker } = failing()
      for (const sequence of [1, 2]) yield* take(sequence)
      yield* TestClock.adjust("1 second")
      state.hangs = true
      const probing = yield* Effect.forkChild(take(3), { startImmediately: true })
      assert.isTrue(worker.breaker.isProbing())
      yield* Fiber.interrupt(probing)
      assert.isFalse(worker.breaker.isProbing())
      Object.assign(state, { hangs: false, status: 204 })
      assert.deepStrictEqual(yield* take(4), ack)
      assert.deepStrictEqual(sent, [1, 2, 3, 4])
    })
  )

  it.effect("without a breaker is tried again as often as it fails", () =>
    Effect.gen(function* () {
      const { told, sent, take, worker } = failing()
      worker.change({ ...worker.settings(), hasBreaker: false })
      for (const sequence of [1, 2, 3]) yield* take(sequence)
      assert.deepStrictEqual([sent, told], [[1, 2, 3], []])
    })
  )
})

describe("first attempts for one entity", () => {
  it.effect("continue when the previous one them has failed before its bytes left", () =>
    Effect.gen(function* () {
      const sent: Array<number> = []
      const refused = { result: { _tag: "NotAnswered", error: "AddressRefused" }, error: { _tag: "AddressRefused" } }
      const take = workerWhose((sequence, { onLeave }) =>
        Effect.sync(() => {
          if (sequence === 1) return refused
          onLeave()
          sent.push(sequence)
          return { result: { _tag: "Answered", status: 204 }, error: undefined }
        })
      )
      const taken = yield* Effect.forEach([1, 2, 3], (sequence) => Effect.forkChild(take(sequence)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, [2, 3])
      assert.deepStrictEqual(yield* Effect.forEach(taken, Fiber.join), [ack, ack, ack])
    })
  )

  it.effect("are not waited for by a retry", () =>
    Effect.gen(function* () {
      const sent: Array<number> = []
      const take = workerWhose((sequence) => (sequence === 1 ? Effect.never : Effect.sync(() => sent.push(sequence))))
      const stuck = yield* Effect.forkChild(take(1))
      const behind = yield* Effect.forkChild(take(2))
      const retried = yield* Effect.forkChild(Effect.ignoreCause(take(3, 2)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent, [3])
      yield* Fiber.interruptAll([stuck, behind, retried])
    })
  )

  it.effect("leave in the order of arrival", () =>
    Effect.gen(function* () {
      const entities = entityOrder()
      const order: Array<number> = []
      const turns = [1, 2, 3].map((number) => ({ number, turn: entities.enter("workItem:a") }))
      const leave = ({ number, turn }: (typeof turns)[number]) =>
        Effect.andThen(
          turn.before ?? Effect.void,
          Effect.sync(() => {
            order.push(number)
            turn.left()
          })
        )
      yield* Effect.forEach(turns.toReversed(), leave, { concurrency: "unbounded" })
      assert.deepStrictEqual(order, [1, 2, 3])
    })
  )

  it("wait for none when the previous one has left, and never for another entity", () => {
    const entities = entityOrder()
    entities.enter("workItem:a").left()
    assert.isUndefined(entities.enter("workItem:a").before)
    assert.isUndefined(entities.enter("workItem:b").before)
  })

  it("may release the next one more than once without harm", () => {
    const entities = entityOrder()
    const first = entities.enter("a")
    const second = entities.enter("a")
    first.left()
    first.left()
    assert.isDefined(second.before)
    assert.isDefined(entities.enter("a").before)
  })
})
