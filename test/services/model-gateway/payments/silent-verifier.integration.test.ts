import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { Requests } from "#bus"
import { subjects } from "#base"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { Claims, openEvmScheme, verifyAnswerCodec, verifyRequestCodec } from "#payments"
import { fundedKey, payWith, signFor } from "../../../support/attacker.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { chat } from "../../../support/gateway.ts"
import { busOf } from "../../../../dev/fixtures/payment-bus.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"
import { creditOf } from "../../../../dev/fixtures/payment-accounts.ts"

/** Takes questions as a verifier does, claims their payments, and is never heard of again. */
const startSilent = Effect.fnUntraced(function* ({ server, chain }: PaymentFleet) {
  const bus = yield* busOf(server)
  const asked = { count: 0 }
  yield* Effect.gen(function* () {
    const claims = yield* Claims
    const scheme = yield* openEvmScheme({
      network: chain.network,
      asset: chain.asset,
      payTo: "",
      rpcUrls: [chain.rpcUrl]
    })
    yield* (yield* Requests).answer({
      subject: subjects.paymentsVerify,
      queueGroup: "payment-verifier",
      question: verifyRequestCodec,
      answer: verifyAnswerCodec,
      concurrency: 4,
      handler: ({ payload, requirements, ...call }) =>
        Effect.gen(function* () {
          const payment = Result.getOrThrow(scheme.check(payload, requirements, yield* Clock.currentTimeMillis))
          yield* Effect.orDie(claims.claim(payment, call))
          asked.count += 1
          return yield* Effect.never
        })
    })
  }).pipe(
    Effect.provide(
      Layer.mergeAll(Claims.layer({ credit: creditOf(1), keptMs: 86_400_000 }), ConfiguredHttp.layer).pipe(
        Layer.provideMerge(Layer.succeedContext(bus)),
        Layer.provideMerge(Metrics.layerTest)
      )
    )
  )
  return asked
})

describe("a verifier that falls silent with a claimed payment", () => {
  it.live("costs the caller two seconds: another takes the claim over, streamed or not", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const silent = yield* Scope.provide(startSilent(fleet), scope)
          const bodies = [chat("hello"), chat("hello", { stream: true })]
          const paying = yield* Effect.forEach(bodies, (body) =>
            Effect.gen(function* () {
              const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
              return yield* Effect.forkChild(payWith(fleet, body, payment))
            })
          )
          yield* eventually(() => silent.count, { is: 2 })
          assert.deepStrictEqual(yield* fleet.claimStates, ["CLAIMED", "CLAIMED"])
          yield* Scope.close(scope, Exit.void)
          yield* fleet.start("payment-verifier")
          for (const one of paying) assert.strictEqual((yield* Fiber.join(one)).status, 200)
          assert.strictEqual(yield* balanced(fleet), 2)
          assert.match(yield* fleet.metrics, /gateway_payments_total\{[^}]*outcome="asked_again"[^}]*\} 2/u)
        }),
      { roles: ["payment-settler", "model-gateway"] }
    )
  )
})
