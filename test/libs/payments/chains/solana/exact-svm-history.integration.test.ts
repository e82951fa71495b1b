import { assert, describe } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { codeOf, inScope, live, scene } from "./fixture.ts"
import { base64Of, memo, signerOf, tokenAccountOf, transfer, wireOf } from "./transactions.ts"
import { amount } from "./vectors.ts"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"

describe("a look-up on the Solana chain", () => {
  live("distinguishes unused, finally ended and undecided payments", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme } = yield* scene()
      const fresh = pay()
      const old = pay({}, (yield* Clock.currentTimeMillis) - 100_000)

      assert.strictEqual((yield* scheme.look(fresh, null))._tag, "Unused")
      yield* chain.expireBlockhashes
      assert.strictEqual((yield* scheme.look(fresh, null))._tag, "Undecided")
      assert.strictEqual((yield* scheme.look(old, null))._tag, "Expired")
    }).pipe(inScope)
  )

  live("waits for final blocks before it calls a payment over", () =>
    Effect.gen(function* () {
      const { pay, scheme } = yield* scene({}, { slotMs: 200, blockhashSlots: 10, finalitySlots: 8 })
      const old = pay({}, (yield* Clock.currentTimeMillis) - 100_000)
      const seen: Array<string> = []
      const looked = Effect.map(scheme.look(old, null), ({ _tag }) => {
        if (seen.at(-1) !== _tag) seen.push(_tag)
        return _tag
      })
      yield* eventually(looked, { is: "Expired" })

      assert.deepStrictEqual(seen, ["Unused", "Undecided", "Expired"])
    }).pipe(inScope)
  )

  live("counts a transaction that failed in its block as spent", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme } = yield* scene()
      const checked = pay()
      const prepared = yield* scheme.prepare(checked, lease)
      yield* chain.fund(chain.payer.address, -((yield* chain.balance(chain.payer.address)) ?? 0n))
      const body = { jsonrpc: "2.0", id: 1, method: "sendTransaction" }
      const params = [base64Of(prepared.raw), { encoding: "base64", skipPreflight: true }]
      yield* Effect.promise(() => fetch(chain.rpcUrl, { method: "POST", body: JSON.stringify({ ...body, params }) }))

      assert.strictEqual((yield* scheme.look(checked, prepared.transaction))._tag, "Spent")
      assert.strictEqual(codeOf(yield* Effect.result(scheme.broadcast(prepared, checked))), "PAYMENT_UNFUNDED")
    }).pipe(inScope)
  )
})

describe("the transfers to a Solana receiver", () => {
  live("come oldest first, from a position on, with their payment's message", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme, settle } = yield* scene()
      const payments = ["1", "2", "3"].map((text) => pay({ tail: [memo(text)] }))
      const settled = yield* Effect.forEach(payments, settle)
      const all = yield* Stream.runCollect(scheme.transfers(null))
      const later = yield* Stream.runCollect(scheme.transfers(all[0]?.position ?? null))

      assert.deepStrictEqual(
        all.map(({ transaction }) => transaction),
        settled.map(({ transaction }) => transaction)
      )
      assert.deepStrictEqual(
        all.map(({ nonce }) => nonce),
        payments.map(({ messageHash }) => messageHash)
      )
      assert.deepStrictEqual(
        later.map(({ transaction }) => transaction),
        settled.slice(1).map(({ transaction }) => transaction)
      )
      assert.deepStrictEqual([all[0]?.payer, all[0]?.amount], [chain.payer.address, amount])
    }).pipe(inScope)
  )

  live("include an unrequested transfer, with the owner who lost the money as its payer", () =>
    Effect.gen(function* () {
      const { chain, scene: parts, make, scheme } = yield* scene()
      const donor = signerOf("donor")
      yield* chain.fund(donor.address, 70n)
      yield* chain.giveSol(donor.address, 1_000_000_000n)
      const source = yield* Effect.promise(() => tokenAccountOf(donor.address))
      const plain = transfer({ source, destination: make.destination, authority: donor.address, amount: 70n })
      // A plain transfer of the token program: without the mint and its decimals.
      const accounts = plain.accounts.filter((_, index) => index !== 1)
      const instruction = { ...plain, accounts, data: Uint8Array.from([3, 70, 0, 0, 0, 0, 0, 0, 0]) }
      const wire = wireOf({
        feePayer: donor.address,
        signers: [donor],
        instructions: [instruction],
        blockhash: parts.blockhash
      })
      const incoming = chain.bank.read(wire)
      assert(incoming !== null)
      assert.isNull(chain.bank.land(incoming)?.err ?? null)
      const [only] = yield* Stream.runCollect(scheme.transfers(null))

      assert.deepStrictEqual([only?.payer, only?.amount, only?.nonce], [donor.address, 70n, null])
    }).pipe(inScope)
  )
})
