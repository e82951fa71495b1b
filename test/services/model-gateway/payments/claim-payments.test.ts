import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { Mailbox, Requests } from "#bus"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { type Claim, type ClaimMove, Claims, factsOf, offerOf, Settlements } from "#payments"
import { CallNames } from "../../../../services/model-gateway/payments/CallNames.ts"
import { PaidAnswers } from "../../../../services/model-gateway/payments/PaidAnswers.ts"
import { PaidJobs } from "../../../../services/model-gateway/payments/PaidJobs.ts"
import { ClaimPayments, claimedPayment } from "../../../../services/model-gateway/payments/claims/ClaimPayments.ts"
import type { OfferedPayment } from "../../../../services/model-gateway/payments/payment-method.ts"
import { testNetwork, testPayload, testRequirements } from "../../../support/payments.ts"
import { failingAtEach, isAfter, type Recorder, told } from "../../../support/recorder.ts"
import { record as claimRecord } from "../../../libs/payments/claims/moves.ts"

const offer = offerOf(testNetwork, BigInt(testRequirements.amount), { maxTimeoutSeconds: 600 })
const claim: Claim = { key: "claim.one", revision: 1, record: claimRecord("CLAIMED") }
const offered = {
  call: { kind: "whole", model: "demo/echo", shape: "chat", jobId: "job-1" },
  quote: { resource: { url: "http://127.0.0.1/x" }, offers: [offer] },
  payload: testPayload("one"),
  requirements: testRequirements,
  identifier: "a name of the client's",
  binding: claim.record.binding
} as unknown as OfferedPayment

/** Payments by claim whose verifier has claimed the payment, and whose settler has not settled it yet. */
const paymentsOn = ({ call }: Recorder) =>
  ClaimPayments.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(Claims, {
          move: (from: Claim, { _tag }: ClaimMove) => call(`move by ${_tag}`, Effect.succeed(from)),
          expose: () => call("take the place of an unpaid answer", Effect.void)
        } as never),
        Layer.succeed(Settlements, {
          request: () =>
            Effect.succeed({
              outcome: () => Effect.succeed({ _tag: "Pending", transaction: null }),
              close: Effect.void
            }),
          outcome: () => call("look at the claim", Effect.succeed({ _tag: "Pending", transaction: null }))
        } as never),
        Layer.succeed(PaidAnswers, { keep: () => Effect.void } as never),
        Layer.succeed(PaidJobs, { put: () => call("write the job", Effect.void) } as never),
        Layer.succeed(CallNames, { take: () => call("write the name", Effect.succeed(true)) } as never),
        Layer.succeed(Requests, {
          ask: () => Effect.succeed({ _tag: "Verified", claimKey: claim.key, claim: factsOf(claim) })
        } as never),
        Layer.succeed(Mailbox, { instance: "gateway" } as never),
        Configuration.layerOf({ Payments: { Networks: [testNetwork] } }),
        Metrics.layerTest
      )
    )
  )

describe("a payment that a verifier has claimed", () => {
  it.effect("is let go when what names its call cannot be written, for its caller sends it again", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach((record) =>
        Effect.provide(
          Effect.flatMap(ClaimPayments, (payments) => payments.take(offered)),
          paymentsOn(record)
        )
      )
      assert.deepStrictEqual(runs[0]?.calls, ["write the name", "write the job"])
      for (const { exit, calls, ...run } of runs.slice(1)) {
        assert.isTrue(Exit.isFailure(exit), told({ exit, calls, ...run }))
        assert.strictEqual(calls.at(-1), "move by Release", told({ exit, calls, ...run }))
      }
      assert.strictEqual(runs.length, 5)
    })
  )
})

describe("an answer that goes out before its payment is settled", () => {
  it.effect("has its place first, and then its claim looked at, so that it or its settler sees the other", () =>
    Effect.gen(function* () {
      const payment = { ...claimedPayment(offered, claim) }
      const answer = { charge: payment.ceiling, cost: null, body: new Uint8Array(1) }
      const runs = yield* failingAtEach((record) =>
        Effect.gen(function* () {
          const payments = yield* ClaimPayments
          return yield* yield* payments.charge(payment, answer)
        }).pipe(Effect.provide(paymentsOn(record)))
      )
      assert.deepStrictEqual(runs[0]?.calls, ["take the place of an unpaid answer", "look at the claim"])
      for (const run of runs) {
        assert.isTrue(isAfter(run, "look at the claim", "take the place of an unpaid answer"), told(run))
        assert.strictEqual(Exit.isSuccess(run.exit), run.failedAt === undefined, told(run))
      }
      assert.strictEqual(runs.length, 5)
    })
  )
})
