import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { Publisher } from "#bus"
import { payerKeyOf } from "#payments/contract"
import { Metrics } from "#runtime"
import { type CheckedPayment, Claims, type ReadFunds } from "#payments"
import type { PayerRecord } from "../../../../libs/payments/claims/PayerStore.ts"
import { checkedPayment, testCall, testRequirements } from "../../../support/payments.ts"
import {
  failingAtEach,
  recordedKv,
  recordedPublisher,
  type Recorder,
  recorder,
  type Run,
  told
} from "../../../support/recorder.ts"
import { optionsFor, why } from "./claims-on-bus.ts"

const [first, second] = [checkedPayment("one"), checkedPayment("two")]
const payerKey = payerKeyOf(first.network, first.payer)

const onKv = (record: Recorder) => {
  const kv = recordedKv(record)
  const layer = Claims.layer(optionsFor(8)).pipe(
    Layer.provide(Layer.mergeAll(kv.layer, Layer.succeed(Publisher, recordedPublisher(record)), Metrics.layerTest))
  )
  const bucket = () => kv.entries.get("authorizations") ?? new Map<string, { readonly value: unknown }>()
  const valueOf = (key: string) => bucket().get(key)?.value
  const places = () => (valueOf(payerKey) as PayerRecord | undefined)?.places.map(({ claimKey }) => claimKey) ?? []
  const stateOf = (key: string) => (valueOf(key) as { readonly state: string } | undefined)?.state ?? "absent"
  return { layer, places, stateOf }
}

/** A wallet with the money for so many calls. */
const moneyFor =
  (calls: bigint): ReadFunds =>
  () =>
    Effect.succeed({ balance: calls * BigInt(testRequirements.amount), spent: new Set<string>() })

interface Second {
  readonly isFirstSeen: boolean
  readonly money: bigint
  readonly payment?: CheckedPayment
}

/** A payer makes two calls; what is recorded is the second. */
const secondCall = ({ isFirstSeen, money, payment = second }: Second) =>
  Effect.fnUntraced(function* (record: Recorder) {
    let isRecording = false
    const { layer, places, stateOf } = onKv({
      ...record,
      call: (name, work) => (isRecording ? record.call(name, work) : work)
    })
    return yield* Effect.gen(function* () {
      const claims = yield* Claims
      yield* claims.claim(first, testCall(), {})
      isRecording = true
      const exit = yield* Effect.exit(claims.claim(payment, testCall(), { isFirstSeen, readFunds: moneyFor(money) }))
      return { exit, places: places(), state: stateOf(payment.claimKey) }
    }).pipe(Effect.provide(layer))
  })

/** Whether the last call about a key is the one that failed. */
const isLastFailed = ({ calls, failedAt }: Run<unknown, unknown>, key: string) =>
  calls.findLastIndex((name) => name.endsWith(key)) === failedAt

describe("a claim that is not taken", () => {
  for (const isFirstSeen of [true, false]) {
    const seen = isFirstSeen ? "first seen" : "seen before"
    it.live(`for want of money leaves no place in its payer's record, of a payment that is ${seen}`, () =>
      Effect.gen(function* () {
        const { exit, places, state } = yield* secondCall({ isFirstSeen, money: 1n })(recorder())
        assert.strictEqual(why(exit), "exposure")
        assert.deepStrictEqual(places, [first.claimKey])
        assert.strictEqual(state, isFirstSeen ? "RELEASED" : "absent")
      })
    )

    for (const money of [1n, 2n]) {
      it.live(`leaves nothing but what could not be undone, of a payment that is ${seen} and money for ${money}`, () =>
        Effect.gen(function* () {
          for (const run of yield* failingAtEach(secondCall({ isFirstSeen, money }))) {
            if (Exit.isFailure(run.exit)) return assert.fail(told(run))
            const { exit, places, state } = run.exit.value
            const isTaken = Exit.isSuccess(exit)
            if (money === 1n) assert.isFalse(isTaken, told(run))
            if (isTaken) assert.deepStrictEqual([places.length, state], [2, "CLAIMED"], told(run))
            else if (state === "CLAIMED") assert.isTrue(isLastFailed(run, second.claimKey), told(run))
            if (isTaken || !places.includes(second.claimKey)) continue
            assert.isTrue(isLastFailed(run, payerKey), told(run))
            // A place that was taken by a write whose answer was lost is given back.
            assert.notStrictEqual(run.failedAt, run.calls.indexOf(`update ${payerKey}`), told(run))
          }
        })
      )
    }
  }

  it.live("for another call uses its payment leaves that one's place alone", () =>
    Effect.gen(function* () {
      const { exit, places, state } = yield* secondCall({ isFirstSeen: true, money: 9n, payment: first })(recorder())
      assert.strictEqual(why(exit), "replay")
      assert.deepStrictEqual(places, [first.claimKey])
      assert.strictEqual(state, "CLAIMED")
    })
  )
})
