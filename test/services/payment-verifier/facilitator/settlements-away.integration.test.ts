import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Result } from "effect"
import { Configuration } from "#configuration"
import { FacilitatorSettlements } from "../../../../services/payment-verifier/facilitator/settlements.ts"
import type { Checked } from "../../../../services/payment-verifier/verifier.ts"
import { jobsAway } from "../../../support/broker-away.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { checkedPayment, testPayload, testRequirements } from "../../../support/payments.ts"
import { jobs, onBus } from "../../../libs/payments/claims/claims-on-bus.ts"

const settlements = FacilitatorSettlements.layer.pipe(
  Layer.provide(Configuration.layerOf({ PaymentVerifier: { FacilitatorSettleSeconds: 1 } }))
)

describe("a payment that another server wants settled during a broker restart", () => {
  it.live("is requested again until its job is stored, and waits for its outcome meanwhile", () =>
    onBus(
      Effect.gen(function* () {
        const broker = jobsAway(3, false)
        yield* Effect.gen(function* () {
          const payments = { paymentPayload: testPayload("one"), paymentRequirements: testRequirements }
          // Any scheme may check it; settling needs nothing of its scheme.
          const checked = { payment: checkedPayment("one") } as Checked
          const settling = yield* Effect.forkChild(
            (yield* FacilitatorSettlements).settle({ x402Version: 2, ...payments }, checked)
          )
          yield* eventually(jobs, { is: ({ messages }) => messages === 1 })
          const job = Result.getOrThrow(Option.getOrThrow((yield* jobs).first))
          assert.isNotNull(job.replyTo)
          assert.deepStrictEqual(yield* Fiber.join(settling), { _tag: "Pending", transaction: null })
        }).pipe(Effect.provide(settlements.pipe(Layer.provideMerge(broker.layer))))
      })
    )
  )
})
