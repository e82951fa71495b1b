import { assert, layer } from "@effect/vitest"
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit"
import { toFacilitatorSvmSigner } from "@x402/svm"
import { ExactSvmScheme } from "@x402/svm/exact/facilitator"
import { Effect, Layer, Result } from "effect"
import { afterAll, beforeAll, vi } from "vitest"
import { LocalSolanaChain } from "../../../../../dev/chain/solana/LocalSolanaChain.ts"
import { egress, leaseOf, openScheme, sceneOf } from "./fixture.ts"
import { base64Of, memo, payloadOf, signerOf } from "./transactions.ts"
import { amount, limits, paymentMaker, vectorsOf } from "./vectors.ts"

const referenceFacilitator = Effect.fnUntraced(function* () {
  const { feePayers, network, rpcUrl } = yield* LocalSolanaChain
  const signers = yield* Effect.promise(() =>
    Promise.all(
      feePayers.map(({ secretKey }) =>
        createKeyPairSignerFromBytes(Uint8Array.from(getBase58Encoder().encode(secretKey)))
      )
    )
  )
  const wrapped = signers.map((signer) => toFacilitatorSvmSigner(signer as never, { defaultRpcUrl: rpcUrl }))
  const [first] = wrapped
  assert(first)
  const all = { ...first, getAddresses: () => wrapped.flatMap((one) => one.getAddresses()) }
  const scheme = new ExactSvmScheme(all, undefined, {
    maxPriorityFeeMicroLamports: limits.priorityFeeMax,
    maxComputeUnits: limits.computeUnitsMax,
    maxRequiredSignatures: limits.requiredSignaturesMax
  })
  return { scheme, network }
})

layer(LocalSolanaChain.layer({ seed: "oracle" }).pipe(Layer.provideMerge(egress)))(
  "the reference facilitator",
  (it) => {
    beforeAll(() => void vi.spyOn(console, "error").mockImplementation(() => undefined))
    afterAll(() => void vi.restoreAllMocks())

    it.effect("agrees with ours on every payment and its reason, unless ours explains more", () =>
      Effect.gen(function* () {
        const chain = yield* LocalSolanaChain
        const reference = yield* referenceFacilitator()
        const ours = yield* openScheme(chain)
        const vectors = yield* Effect.promise(() => vectorsOf(sceneOf(chain)))
        const disagreements: Array<string> = []
        for (const vector of vectors) {
          const { payload, requirements } = vector
          const verified = Effect.flatMap(Effect.fromResult(ours.check(payload, requirements, 0)), ours.simulate)
          const own = yield* Effect.result(verified)
          const answer = yield* Effect.promise(() => reference.scheme.verify(payload as never, requirements as never))
          const ownReason = Result.isFailure(own) && "reason" in own.failure ? own.failure.reason : null
          const referenceReason = answer.isValid ? null : (answer.invalidReason ?? "").split(":")[0]
          const wanted = vector.reference === undefined ? vector.reason : vector.reference.reason
          if (ownReason !== vector.reason) disagreements.push(`${vector.name}: ours ${ownReason}, not ${vector.reason}`)
          if (referenceReason !== wanted)
            disagreements.push(`${vector.name}: reference ${referenceReason}, not ${wanted}`)
        }

        assert.deepStrictEqual(disagreements, [])
        assert.isAbove(vectors.length, 40)
      })
    )

    it.effect("agrees with ours on the chain's verdict on a payment", () =>
      Effect.gen(function* () {
        const chain = yield* LocalSolanaChain
        const reference = yield* referenceFacilitator()
        const ours = yield* openScheme(chain)
        const scene = sceneOf(chain)
        const poor = signerOf("poor")
        yield* chain.fund(poor.address, amount - 1n)
        const make = yield* Effect.promise(() => paymentMaker(scene))
        const poors = yield* Effect.promise(() => paymentMaker({ ...scene, payer: poor }))
        const unfunded = yield* Effect.promise(() => paymentMaker({ ...scene, payer: signerOf("nobody") }))
        const stale = yield* Effect.promise(() => paymentMaker({ ...scene, blockhash: scene.payTo }))
        const cases = [
          { wire: make.wire({ tail: [memo("fine")] }), code: null, detail: null },
          { wire: poors.wire(), code: "PAYMENT_UNFUNDED", detail: '{"InstructionError":[2,{"Custom":1}]}' },
          { wire: unfunded.wire(), code: "PAYMENT_UNFUNDED", detail: '{"InstructionError":[2,"InvalidAccountData"]}' },
          { wire: stale.wire(), code: "PAYMENT_BLOCKHASH_STALE", detail: '"BlockhashNotFound"' },
          {
            wire: make.wire({ transfer: { decimals: 9 } }),
            code: "PAYMENT_INVALID",
            detail: '{"InstructionError":[2,{"Custom":18}]}'
          }
        ]
        for (const { code, detail, wire } of cases) {
          const requirements = make.requirements()
          const payload = payloadOf(base64Of(wire), requirements)
          const verified = Effect.flatMap(Effect.fromResult(ours.check(payload, requirements, 0)), ours.simulate)
          const own = yield* Effect.result(verified)
          const answer = yield* Effect.promise(() => reference.scheme.verify(payload as never, requirements as never))

          const refusal = Result.isFailure(own) && own.failure._tag === "PaymentRefused" ? own.failure : null
          assert.strictEqual(refusal?.code ?? null, code)
          assert.strictEqual(refusal?.detail ?? null, detail)
          assert.strictEqual(answer.isValid, code === null)
          assert.strictEqual(answer.invalidReason ?? null, refusal?.reason ?? null)
          // It writes numbers as texts.
          if (detail !== null) assert.include(answer.invalidMessage?.replaceAll(/"(\d+)"/gu, "$1"), detail)
        }
      })
    )

    it.effect(
      "settles a payment that ours verified, under the hash that ours would have given it; then ours calls it a replay",
      () =>
        Effect.gen(function* () {
          const chain = yield* LocalSolanaChain
          const reference = yield* referenceFacilitator()
          const ours = yield* openScheme(chain)
          const make = yield* Effect.promise(() => paymentMaker(sceneOf(chain)))
          const requirements = make.requirements()
          const payload = payloadOf(base64Of(make.wire({ tail: [memo("settled by reference")] })), requirements)
          const checked = yield* Effect.fromResult(ours.check(payload, requirements, 0))
          const prepared = yield* ours.prepare(checked, leaseOf(chain))
          const settled = yield* Effect.promise(() => reference.scheme.settle(payload as never, requirements as never))
          const again = yield* Effect.promise(() => reference.scheme.settle(payload as never, requirements as never))

          assert.deepInclude(settled, { success: true, transaction: prepared.transaction, payer: chain.payer.address })
          assert.strictEqual(again.errorReason, "duplicate_settlement")
          const replay = yield* Effect.flip(ours.simulate(checked))
          assert(replay._tag === "PaymentRefused")
          assert.strictEqual(replay.code, "PAYMENT_REPLAY")
          assert.strictEqual((yield* ours.broadcast(prepared, checked)).transaction, prepared.transaction)
        })
    )
  }
)
