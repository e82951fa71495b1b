import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { type Answer, Idempotency, jsonAnswer, serviceUnavailable, type WireError } from "#http"
import { Metrics } from "#runtime"
import { claimKey, idempotencyRecords, settleClaim } from "../../../../libs/http/idempotency/Idempotency.ts"
import { type IdempotencyRecord, storedAnswer } from "../../../../libs/http/idempotency/record.ts"
import {
  failingAtEach,
  isAfter,
  recordedBucket,
  recordedKv,
  recorder,
  type Recorder,
  type Run,
  told
} from "../../../support/recorder.ts"
import { request } from "../replicas.ts"

const made: Effect.Effect<Answer, WireError> = Effect.succeed(jsonAnswer({}, { status: 201 }))
const notMade: Effect.Effect<Answer, WireError> = Effect.fail(serviceUnavailable(1, "a provider is away"))

/** A request, in which a call to the broker may fail, and the same one again, in which none does. */
const twice = (work: Effect.Effect<Answer, WireError>) => (record: Recorder) => {
  let isAgain = false
  const { layer } = recordedKv({
    call: (name, asked) => (isAgain ? asked : record.call(name.split(" ")[0] ?? "", asked))
  })
  const status = (exit: Exit.Exit<Answer, WireError>) => (Exit.isSuccess(exit) ? exit.value.status : "none")
  return Effect.gen(function* () {
    const { run } = yield* Idempotency
    const first = yield* Effect.exit(run(request(), Effect.andThen(record.note("work"), work)))
    isAgain = true
    const second = yield* Effect.exit(run(request(), Effect.andThen(record.note("work again"), made)))
    const isReplayed = Exit.isSuccess(second) && second.value.headers["idempotent-replayed"] === "true"
    return { first: status(first), second: status(second), isReplayed }
  }).pipe(Effect.provide(Layer.provide(Idempotency.layer(), Layer.merge(layer, Metrics.layerTest))))
}

const outcomeOf = <A, E>(run: Run<A, E>) => (Exit.isSuccess(run.exit) ? run.exit.value : assert.fail(told(run)))

describe("a request with an idempotency key, whichever call to the broker fails,", () => {
  it.effect("works only under a claim, and its repetition gets the answer that it got", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(twice(made))
      assert.deepStrictEqual(runs[0]?.calls, ["create", "work", "update"])
      for (const run of runs) {
        const { first, second, isReplayed } = outcomeOf(run)
        assert.isTrue(isAfter(run, "work", "create"), told(run))
        assert.strictEqual(run.calls.includes("work"), first === 201, told(run))
        assert.strictEqual(isReplayed, first === 201, told(run))
        // A claim whose answer was lost lasts until its time to live is over.
        const isClaimed = first !== 201 && run.done.includes("create")
        assert.strictEqual(second, isClaimed ? "none" : 201, told(run))
      }
      assert.strictEqual(runs.length, 5)
    })
  )

  it.effect("that fails on our side frees its key for the next try", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(twice(notMade))
      for (const run of runs.filter(({ calls }) => calls.includes("work"))) {
        assert.deepStrictEqual(outcomeOf(run), { first: "none", second: 201, isReplayed: false }, told(run))
        assert.strictEqual(run.calls.at(-1), "work again", told(run))
      }
      assert.isAtLeast(runs.length, 5)
    })
  )
})

it.effect("a claim that another request has taken since leaves what that one has written", () =>
  Effect.gen(function* () {
    const answer = storedAnswer(jsonAnswer({}, { status: 201 })) ?? assert.fail("it cannot be kept")
    for (const isEnded of [false, true]) {
      const bucket = recordedBucket<IdempotencyRecord>(recorder())
      const keys = idempotencyRecords(bucket, 1_000)
      const claimed = Effect.fnUntraced(function* (holder: string) {
        const taken = yield* claimKey(keys, { key: "k", holder, fingerprint: "f" })
        return taken._tag === "Claimed" ? taken.claim : assert.fail(taken._tag)
      })
      const first = yield* claimed("first")
      // Its time to live is over.
      yield* bucket.erase("k", first.revision)
      const second = yield* claimed("second")
      if (isEnded) yield* settleClaim(keys, second, answer)
      const standing = yield* bucket.get("k")
      assert.strictEqual((yield* Effect.flip(settleClaim(keys, first, answer)))._tag, "ClaimLost")
      assert.deepStrictEqual(yield* bucket.get("k"), standing)
    }
  })
)
