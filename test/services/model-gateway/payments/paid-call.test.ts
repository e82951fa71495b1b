import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import {
  type CallEvent,
  callMove,
  type CallMove,
  type CallState,
  type CallTask,
  type CallTasks,
  NotAsked,
  openCall
} from "../../../../services/model-gateway/payments/paid-call.ts"
import { PaymentRefusal } from "../../../../services/model-gateway/payments/replies.ts"

const events: ReadonlyArray<CallEvent> = [
  "Serve",
  "Served",
  "NotServed",
  "Force",
  "Release",
  "Settle",
  "Settled",
  "NotAsked",
  "Leave"
]

type Row = readonly [from: CallState, on: CallEvent, to: CallState, asks?: CallTask]

const rows: ReadonlyArray<Row> = [
  ["claimed", "Serve", "beginning", "serve"],
  ["claimed", "Release", "ended", "release"],
  ["claimed", "Leave", "ended", "abandon"],
  ["claimed", "Settle", "settling", "settle"],
  ["beginning", "Served", "serving"],
  ["beginning", "NotServed", "ended", "release"],
  ["beginning", "Release", "ended", "release"],
  ["beginning", "Leave", "ended", "abandon"],
  ["beginning", "Settle", "settling", "settle"],
  ["serving", "Force", "forced", "force"],
  ["serving", "Release", "ended", "release"],
  ["serving", "Leave", "settling", "settle"],
  ["serving", "Settle", "settling", "settle"],
  ["forced", "Release", "ended", "keep"],
  ["forced", "Leave", "ended", "settle"],
  ["forced", "Settle", "ended", "settle"],
  ["settling", "NotAsked", "ended", "release"],
  ["settling", "Settled", "ended"]
]

const states: ReadonlyArray<CallState> = ["claimed", "beginning", "serving", "forced", "settling", "ended"]

describe("the transition table of a paid call", () => {
  for (const [from, on, to, asks] of rows) {
    it(`leads from ${from} on ${on} to ${to}`, () => {
      const move: CallMove = asks === undefined ? { to } : { to, asks }
      assert.deepStrictEqual(callMove(from, on), move)
    })
  }

  it("stays and acts on nothing in all other cases", () => {
    for (const from of states) {
      for (const on of events) {
        if (rows.some(([state, event]) => state === from && event === on)) continue
        assert.deepStrictEqual(callMove(from, on), { to: from }, `${from} on ${on}`)
      }
    }
  })

  it.prop(
    "requests the payment's end at most once, and never releases a requested payment",
    [Schema.Array(Schema.Literals(events))],
    ([happened]) => {
      let state: CallState = "claimed"
      const asked: Array<CallTask> = []
      let wasNotAsked = false
      for (const event of happened) {
        if (state === "settling" && event === "NotAsked") wasNotAsked = true
        const move: CallMove = callMove(state, event)
        state = move.to
        if (move.asks !== undefined) asked.push(move.asks)
      }
      const count = (task: CallTask) => asked.filter((one) => one === task).length
      for (const task of ["serve", "force", "release", "abandon", "settle", "keep"] as const)
        assert.isAtMost(count(task), 1)
      if (count("force") > 0) assert.strictEqual(count("release"), 0)
      if (count("settle") > 0 && count("release") > 0) assert.isTrue(wasNotAsked)
    },
    { arbitrary: { runs: 500 } }
  )
})

const streamed = { body: null, costMicroUsd: null, used: null }
const refusal = new PaymentRefusal({ status: 503, code: "AWAY", headers: {}, body: "{}" })

/** A call that records its tasks; the named ones fail. */
const callWith = (fails: { readonly serve?: true; readonly settle?: "refused" | "not asked" } = {}) => {
  const done: Array<string> = []
  const note = (task: string) => Effect.sync(() => void done.push(task))
  const settled: ReturnType<CallTasks["settle"]> =
    fails.settle === undefined
      ? Effect.succeed({ headers: { "payment-response": "receipt" } })
      : Effect.fail(fails.settle === "refused" ? refusal : new NotAsked({ refusal }))
  const call = openCall({
    serve: Effect.andThen(note("serve"), fails.serve === true ? Effect.fail(refusal) : Effect.void),
    force: note("force"),
    release: note("release"),
    abandon: note("abandon"),
    keep: note("keep"),
    measure: () => true,
    settle: () => Effect.andThen(note("settle"), settled)
  })
  return { call, done }
}

describe("a paid call", () => {
  it.effect("is released once, and owes nothing afterwards", () =>
    Effect.gen(function* () {
      const { call, done } = callWith()
      yield* call.release
      yield* call.release
      yield* call.serve
      assert.deepStrictEqual((yield* call.settle(streamed)).headers, {})
      yield* call.leave
      assert.deepStrictEqual(done, ["release"])
    })
  )

  it.effect("is settled once, even when its caller leaves before or after", () =>
    Effect.gen(function* () {
      const { call, done } = callWith()
      yield* call.serve
      assert.deepStrictEqual((yield* call.settle(streamed)).headers, { "payment-response": "receipt" })
      yield* call.leave
      yield* call.release
      assert.deepStrictEqual(done, ["serve", "settle"])
      const left = callWith()
      yield* left.call.serve
      yield* left.call.leave
      assert.deepStrictEqual((yield* left.call.settle(streamed)).headers, {})
      assert.deepStrictEqual(left.done, ["serve", "settle"])
    })
  )

  it.effect("releases its payment when its stream cannot begin, and no settlement was requested", () =>
    Effect.gen(function* () {
      const unserved = callWith({ serve: true })
      assert.deepStrictEqual(yield* Effect.exit(unserved.call.serve), Exit.fail(refusal))
      yield* unserved.call.release
      assert.deepStrictEqual(unserved.done, ["serve", "release"])
      const unasked = callWith({ settle: "not asked" })
      assert.deepStrictEqual(yield* Effect.exit(unasked.call.settle(streamed)), Exit.fail(refusal))
      yield* unasked.call.leave
      assert.deepStrictEqual(unasked.done, ["settle", "release"])
    })
  )

  it.effect("keeps its payment when the settlement was refused, or requested before the stream failed", () =>
    Effect.gen(function* () {
      const refused = callWith({ settle: "refused" })
      assert.deepStrictEqual(yield* Effect.exit(refused.call.settle(streamed)), Exit.fail(refusal))
      yield* refused.call.release
      assert.deepStrictEqual(refused.done, ["settle"])
      const forced = callWith()
      yield* forced.call.force
      yield* forced.call.serve
      yield* forced.call.force
      yield* forced.call.release
      assert.deepStrictEqual(forced.done, ["serve", "force", "keep"])
      const again = callWith({ settle: "not asked" })
      yield* again.call.serve
      yield* again.call.force
      assert.deepStrictEqual(yield* Effect.exit(again.call.settle(streamed)), Exit.fail(refusal))
      assert.deepStrictEqual(again.done, ["serve", "force", "settle"])
    })
  )
})
