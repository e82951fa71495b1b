import { Effect, Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import { hexOf } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { cancelCall } from "../../../../../dev/fixtures/evm/token-calls.ts"
import {
  cancellation,
  newNonce,
  newPayer,
  payerOf,
  payment,
  requirementsOf
} from "../../../../../dev/fixtures/evm/payments.ts"
import { checked, type EvmFixture, startEvmFixture } from "../../../../../dev/fixtures/evm/fixture.ts"
import {
  type ReferenceFacilitator,
  referenceFacilitator
} from "../../../../../dev/fixtures/evm/reference-facilitator.ts"
import { vectors, type VectorFixtures } from "./vectors.ts"

describe("the verdict on an EVM payment agrees with other implementations", () => {
  let fixture: EvmFixture
  let reference: ReferenceFacilitator
  let fixtures: VectorFixtures

  beforeAll(async () => {
    // Only the blocks of the preparations: the chain's time stands still behind ours while both are called.
    fixture = await startEvmFixture({ blockTimeMs: 3_600_000 })
    reference = referenceFacilitator(fixture.chain)
    fixtures = await prepareFixtures(fixture)
  })
  afterAll(() => fixture.end())

  it.each(vectors.map((vector) => [vector.name, vector] as const))("%s", async (_, { make, verdict, other }) => {
    const { payload, requirements } = await make({ ...fixtures, nowSeconds: Math.floor(Date.now() / 1_000) })

    const ours = await ownVerdict(fixture, payload, requirements)
    const reported = await reference.verdict(payload, requirements)

    assert.strictEqual(ours, verdict)
    assert.strictEqual(reported, other?.verdict ?? verdict, "the other facilitator")
  })

  it("for at least sixty payments, each name once", () => {
    assert.isAtLeast(vectors.length, 60)
    assert.strictEqual(new Set(vectors.map(({ name }) => name)).size, vectors.length)
  })
})

const ownVerdict = async (fixture: EvmFixture, payload: PaymentPayload, requirements: PaymentRequirements) => {
  const good = fixture.scheme.check(payload, requirements, Date.now())
  if (Result.isFailure(good)) return good.failure.reason
  const outcome = await fixture.run(Effect.result(fixture.scheme.simulate(good.success)))
  if (Result.isSuccess(outcome)) return "valid"
  return outcome.failure._tag === "PaymentRefused" ? outcome.failure.reason : outcome.failure.message
}

const prepareFixtures = async ({ chain, run, scheme, lease }: EvmFixture): Promise<VectorFixtures> => {
  const nowMs = Date.now()
  const nowSeconds = Math.floor(nowMs / 1_000)
  const payer = payerOf(chain.payer.privateKey)
  const [otherPayer, shortPayer, emptyPayer, delegatedPayer] = [newPayer(), newPayer(), newPayer(), newPayer()]
  await run(chain.fund(otherPayer.address, 1_000_000n))
  await run(chain.fund(shortPayer.address, 25_684n))
  await run(chain.fund(delegatedPayer.address, 1_000_000n))
  await run(chain.rpc("anvil_setCode", [delegatedPayer.address, "0x60006000fd"]))

  const requirements = requirementsOf()
  const paid = await payment(payer, requirements, { nowSeconds })
  const good = checked(scheme, paid, requirements, nowMs)
  const prepared = await run(scheme.prepare(good, await lease()))
  await run(scheme.broadcast(prepared, good))

  const cancelledNonce = newNonce()
  const withdrawal = cancelCall(payer.address, cancelledNonce, await cancellation(payer, cancelledNonce))
  const cancel = { from: chain.settlers[1]?.address, to: chain.asset, data: hexOf(withdrawal) }
  await run(chain.rpc("anvil_impersonateAccount", [cancel.from]))
  await run(chain.rpc("eth_sendTransactionSync", [cancel]))
  return {
    nowSeconds,
    payer,
    otherPayer,
    shortPayer,
    emptyPayer,
    delegatedPayer,
    usedNonce: good.authorization.nonce,
    cancelledNonce,
    contract: chain.asset
  }
}
