import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { pickUpPassedOver } from "../../../dev/chain/evm/pick-up-passed-over.ts"
import { hexOf } from "../../../libs/payments/chains/evm/encoding.ts"
import { goodPayment, type EvmFixture, startEvmFixture } from "../../../dev/fixtures/evm/fixture.ts"
import { until } from "../../../dev/fixtures/eventually.ts"

describe("transactions that reached the local chain ahead of their nonce", () => {
  let rig: EvmFixture
  beforeAll(async () => {
    rig = await startEvmFixture()
  })
  afterAll(() => rig.end())

  const preparedAhead = async (ahead: number) => {
    const { key, nonce } = await rig.lease()
    const good = await goodPayment(rig)
    const prepared = await rig.run(rig.scheme.prepare(good, { key, nonce: Number(nonce) + ahead }))
    await rig.run(rig.scheme.node.send(hexOf(prepared.raw)))
    return { good, prepared }
  }

  it("are mined unchanged once their turn has come", async () => {
    const { key, nonce } = await rig.lease()
    const [first, second] = [await preparedAhead(1), await preparedAhead(2)]
    await rig.run(rig.chain.rpc("anvil_setNonce", [key.address, `0x${(Number(nonce) + 1).toString(16)}`]))

    const settled = await rig.run(
      Effect.forEach([first, second], ({ good, prepared }) => rig.scheme.broadcast(prepared, good), {
        concurrency: 2
      })
    )

    assert.deepStrictEqual(
      settled.map(({ transaction }) => transaction),
      [first.prepared.transaction, second.prepared.transaction]
    )
  })

  it("stay unmined as long as one before them is missing", async () => {
    await preparedAhead(1)
    const asked: Array<string> = []
    const watched = pickUpPassedOver((method, params) => {
      asked.push(method)
      return rig.chain.rpc(method, params)
    })

    const looks = () => asked.filter((method) => method === "txpool_content").length
    await rig.run(
      Effect.raceFirst(
        watched,
        Effect.promise(() => until(() => looks(), { is: (seen) => seen > 3 }))
      )
    )

    assert.notInclude(asked, "anvil_removePoolTransactions")
  })
})
