import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ChainUnavailable } from "#payments"
import type { LandedTransaction, SolanaNode } from "../../../../../libs/payments/chains/solana/SolanaNode.ts"
import { transfersFrom, transfersOf } from "../../../../../libs/payments/chains/solana/transfers.ts"
import { mint, network, signerOf, tokenAccountOf } from "./transactions.ts"
import { amount, paymentMaker } from "./vectors.ts"

const scene = {
  blockhash: mint,
  payTo: signerOf("the gateway").address,
  feePayer: signerOf("fee payer"),
  otherFeePayer: signerOf("other fee payer"),
  payer: signerOf("payer")
}
const make = await paymentMaker(scene)
const options = { network, asset: mint, payTo: scene.payTo, account: await tokenAccountOf(scene.payTo), pageSize: 3 }
const wire = Buffer.from(make.wire()).toString("base64")
const meta = { err: null, preTokenBalances: [], postTokenBalances: [] }
const landed: LandedTransaction = { transaction: [wire, "base64"], meta }

/** A node's two methods of a history, as it lists it: the newest first, in pages. */
const node = (count: number) => {
  const newestFirst = Array.from({ length: count }, (_, index) => ({
    signature: `signature ${count - index}`,
    err: (count - index) % 5 === 0 ? "AccountInUse" : null
  }))
  const asked: Array<string> = []
  const rpc: Pick<SolanaNode, "signatures" | "transaction"> = {
    signatures: (_, { before, until, limit }) => {
      const start = before === null ? 0 : newestFirst.findIndex(({ signature }) => signature === before) + 1
      const end = until === null ? count : newestFirst.findIndex(({ signature }) => signature === until)
      return Effect.succeed(newestFirst.slice(start, Math.min(start + limit, end)))
    },
    transaction: (signature) => {
      asked.push(signature)
      return Effect.succeed(landed)
    }
  }
  return { rpc: rpc as SolanaNode, asked }
}

describe("transfers to the receiver", () => {
  it.effect("are all read in order, even more than fit in memory", () =>
    Effect.gen(function* () {
      const { rpc } = node(100)
      const wanted = Array.from({ length: 100 }, (_, index) => index + 1).filter((number) => number % 5 !== 0)
      const read = (from: string | null) =>
        Effect.map(Stream.runCollect(transfersFrom(rpc, options, from)), (all) => all.map(({ position }) => position))

      assert.deepStrictEqual(
        yield* read(null),
        wanted.map((number) => `signature ${number}`)
      )
      assert.deepStrictEqual(yield* read("signature 97"), ["signature 98", "signature 99"])
      assert.deepStrictEqual(yield* read("signature 100"), [])
    })
  )

  it.effect("are fetched one by one, so that a reader that stops fetches no more", () =>
    Effect.gen(function* () {
      const { asked, rpc } = node(20)
      yield* Stream.runCollect(Stream.take(transfersFrom(rpc, options, null), 2))

      assert.deepStrictEqual(asked, ["signature 1", "signature 2"])
    })
  )

  it.effect("end with the chain's failure, not with fewer transfers", () =>
    Effect.gen(function* () {
      const { rpc } = node(20)
      const silence = new ChainUnavailable({ operation: "getTransaction", detail: "gone" })
      const silent = { ...rpc, transaction: () => Effect.fail(silence) }

      assert.strictEqual(yield* Effect.flip(Stream.runCollect(transfersFrom(silent, options, null))), silence)
    })
  )

  it("are read from the instructions, and not from a failed transaction", () => {
    const [only] = transfersOf(options, "s", landed)

    assert.deepInclude(only, { payer: scene.payer.address, amount, transaction: "s", position: "s" })
    assert.deepStrictEqual(transfersOf(options, "s", { ...landed, meta: { ...meta, err: "AccountInUse" } }), [])
  })

  it("are read from the balances when the transaction is unreadable or a program made them", () => {
    const balance = (owner: string, units: string, of = mint) => ({
      accountIndex: 1,
      mint: of,
      owner,
      uiTokenAmount: { amount: units }
    })
    const other = signerOf("another mint").address
    const balances = {
      err: null,
      preTokenBalances: [balance("giver", "50"), balance("bystander", "9"), balance(scene.payTo, "1", other)],
      postTokenBalances: [
        balance("giver", "20"),
        balance("bystander", "9"),
        balance(scene.payTo, "30"),
        balance(scene.payTo, "99", other)
      ]
    }
    const [only, ...rest] = transfersOf(options, "s", { transaction: ["AAAA", "base64"], meta: balances })

    assert.deepInclude(only, { payer: "giver", amount: 30n, nonce: null })
    assert.deepStrictEqual(rest, [])
  })
})
