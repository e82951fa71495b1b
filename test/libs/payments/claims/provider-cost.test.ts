import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { records } from "#bus"
import { ClaimMove, type ClaimRecord } from "../../../../libs/payments/claims/claim.ts"
import {
  type Claim,
  claimOfJob,
  type ClaimStore,
  moveClaim,
  receiptCodec,
  settlementJob,
  settlementJobCodec
} from "../../../../libs/payments/claims/ClaimStore.ts"
import { memoryBucket } from "../../../support/memory-bucket.ts"
import { receiptOf } from "../../../support/money.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"

const { claimKey, network, asset, payer, payTo, amount, payload, requirements } = checkedPayment("one")

/** As a verifier has taken it; nobody has written its cost yet. */
const taken: Claim = {
  key: claimKey,
  revision: 3,
  record: {
    ...testCall(),
    state: "CLAIMED",
    network,
    asset,
    payer,
    payTo,
    amount: String(amount),
    moves: 1,
    ticket: "ticket",
    validBeforeMs: 2_000,
    claimedAtMs: 1_000,
    requestedAtMs: null,
    transactions: [],
    asked: 0,
    reason: null,
    payment: { payload, requirements }
  }
}
const costing: Claim = { ...taken, record: { ...taken.record, providerCost: "300", charge: "400" } }

const received = (message: object) => ({ data: Buffer.from(JSON.stringify(message)), header: () => undefined })

describe("what a call's provider took", () => {
  it("comes to the settler with the job", () => {
    const job = settlementJob(costing, null, 1_500)
    if (job === undefined) throw new Error("a live claim has a job")
    const read = settlementJobCodec.decode({ ...settlementJobCodec.encode(job), header: () => undefined })
    assert.strictEqual(claimOfJob(Result.getOrThrow(read))?.record.providerCost, "300")
  })

  it.effect("is written with the claim's next move, even when a renewal comes between", () =>
    Effect.gen(function* () {
      const { bucket } = memoryBucket<ClaimRecord>(
        () => "stored",
        () => 0
      )
      const store: Pick<ClaimStore, "records"> = { records: records(bucket) }
      const first = yield* store.records.replace(claimKey, taken.record, 0)
      yield* store.records.replace(claimKey, { ...taken.record, moves: 2 }, first.revision)
      const known = { ...costing, revision: first.revision }
      const { record } = yield* moveClaim(store as ClaimStore, known, ClaimMove.Settle(), false)
      assert.include(record, { state: "SETTLING", moves: 3, providerCost: "300", charge: "400" })
      const plain = yield* moveClaim(store as ClaimStore, { ...taken, revision: 1 }, ClaimMove.AskAgain(), false)
      assert.include(plain.record, { providerCost: "300", charge: "400" })
    })
  )

  it("is absent in a receipt of an older release, and an unknown field of a newer one is passed over", () => {
    const receipt = receiptOf("one")
    assert.deepStrictEqual(Result.getOrThrow(receiptCodec.decode(received(receipt))), receipt)
    const newer = { ...receipt, providerCost: "300", addedLater: { at: 1 } }
    assert.deepStrictEqual(Result.getOrThrow(receiptCodec.decode(received(newer))), { ...receipt, providerCost: "300" })
  })
})
