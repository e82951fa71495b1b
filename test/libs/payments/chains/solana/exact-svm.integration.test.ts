import { assert, describe } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { tokenAccount } from "../../../../../dev/chain/solana/token-state.ts"
import { readSettlerKey, signTransfer, svmDefaults } from "#payments"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"
import { checkedFrom, codeOf, inScope, leaseOf, live, scene } from "./fixture.ts"
import { memo, programs, signerOf, tokenAccountOf, transfer } from "./transactions.ts"
import { amount, paymentMaker } from "./vectors.ts"

describe("a Solana payment", () => {
  live("that is valid is verified and settled once, and the money arrives", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme } = yield* scene({ tail: [memo("a")] })
      const checked = pay()
      yield* scheme.simulate(checked)
      const prepared = yield* scheme.prepare(checked, lease)
      const settlement = yield* scheme.broadcast(prepared, checked)

      assert.strictEqual(settlement.transaction, prepared.transaction)
      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
      assert.deepStrictEqual(yield* scheme.look(checked, prepared.transaction), {
        _tag: "Settled",
        transaction: prepared.transaction
      })
    }).pipe(inScope)
  )

  live("that our own payer has signed is settled under the default limits", () =>
    Effect.gen(function* () {
      const { chain, lease, make, scheme, scene: parts } = yield* scene({}, {}, { limits: svmDefaults.limits })
      const key = yield* Effect.fromResult(readSettlerKey(chain.network, chain.payer.secretKey))
      const requirements = make.requirements()
      const { blockhash } = parts
      const seed = Redacted.value(key.secret)
      const signed = yield* Effect.fromResult(signTransfer({ requirements, seed, blockhash, decimals: 6, memo: "one" }))
      const wire = Buffer.from(signed.transaction, "base64")
      const checked = checkedFrom(scheme, wire, requirements)
      yield* scheme.simulate(checked)
      yield* scheme.broadcast(yield* scheme.prepare(checked, lease), checked)

      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
    }).pipe(inScope)
  )

  /** Of a key that nobody has. */
  const emptyAddress = "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM"

  live("takes its fee from an account whose coin the scheme reports, zero for a missing one", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme, settle } = yield* scene()
      const address = chain.feePayers[0]?.address ?? ""
      const before = yield* scheme.feeBalance(address)
      assert.isTrue(before > 0n)
      yield* settle(pay())
      assert.isTrue((yield* scheme.feeBalance(address)) < before)
      assert.strictEqual(yield* scheme.feeBalance(emptyAddress), 0n)
      assert.isTrue((yield* scheme.transfersLeft(address)) > 0n)
      assert.strictEqual(yield* scheme.transfersLeft(emptyAddress), 0n)
    }).pipe(inScope)
  )

  live("comes from an account whose balance the scheme reports, zero for a missing one", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme, settle } = yield* scene()
      const checked = pay()
      const before = (yield* chain.balance(chain.payer.address)) ?? 0n
      assert.deepStrictEqual(yield* scheme.funds(checked, []), { balance: before, spent: null })
      yield* settle(checked)
      assert.deepStrictEqual(yield* scheme.funds(checked, [checked.claimKey]), {
        balance: before - amount,
        spent: null
      })
      const nowhere = { ...checked, transfer: { ...checked.transfer, source: chain.feePayers[0]?.address ?? "" } }
      assert.strictEqual((yield* scheme.funds(nowhere, [])).balance, 0n)
    }).pipe(inScope)
  )

  live("that was settled is a replay, even with other bytes in the fee payer's slot", () =>
    Effect.gen(function* () {
      const { pay, scheme, settle } = yield* scene()
      yield* settle(pay())
      const filled = pay({ alterSignatures: ([, ...rest]) => [new Uint8Array(64).fill(9), ...rest] })

      assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(pay()))), "PAYMENT_REPLAY")
      assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(filled))), "PAYMENT_REPLAY")
    }).pipe(inScope)
  )

  live("that many settle at once moves the money once, and all get the same transaction", () =>
    Effect.gen(function* () {
      const { chain, pay, settle } = yield* scene()
      const settlements = yield* Effect.all(
        Array.from({ length: 8 }, () => settle(pay())),
        { concurrency: "unbounded" }
      )

      assert.strictEqual(new Set(settlements.map(({ transaction }) => transaction)).size, 1)
      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
    }).pipe(inScope)
  )

  live("of an empty, a missing or a frozen account is unfunded", () =>
    Effect.gen(function* () {
      const { chain, make, scene: parts, scheme } = yield* scene()
      const { mint } = chain
      const owners = { missing: signerOf("no account"), empty: signerOf("empty"), frozen: signerOf("frozen") }
      yield* chain.fund(owners.empty.address, amount - 1n)
      const frozenAt = yield* Effect.promise(() => tokenAccountOf(owners.frozen.address))
      const state = { mint, owner: owners.frozen.address, amount: 10n * amount, isFrozen: true }
      chain.bank.svm.setAccount(tokenAccount(frozenAt, programs.token, state))
      for (const payer of Object.values(owners)) {
        const theirs = yield* Effect.promise(() => paymentMaker({ ...parts, payer }))
        const checked = checkedFrom(scheme, theirs.wire(), make.requirements())
        const result = yield* Effect.result(scheme.simulate(checked))

        assert.strictEqual(codeOf(result), "PAYMENT_UNFUNDED")
        assert(Result.isFailure(result) && result.failure._tag === "PaymentRefused")
        assert.strictEqual(result.failure.payer, payer.address)
        assert.strictEqual(result.failure.reason, "invalid_exact_svm_transaction_simulation_failed")
      }
    }).pipe(inScope)
  )

  live("with another owner's account as its source, or other decimals, is invalid", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme } = yield* scene()
      const victim = signerOf("victim")
      yield* chain.fund(victim.address, amount)
      const source = yield* Effect.promise(() => tokenAccountOf(victim.address))

      assert.strictEqual(
        codeOf(yield* Effect.result(scheme.simulate(pay({ transfer: { source } })))),
        "PAYMENT_INVALID"
      )
      assert.strictEqual(
        codeOf(yield* Effect.result(scheme.simulate(pay({ transfer: { decimals: 9 } })))),
        "PAYMENT_INVALID"
      )
    }).pipe(inScope)
  )

  live("that leaves too few compute units, or whose assertion fails, is invalid", () =>
    Effect.gen(function* () {
      const { pay, scheme } = yield* scene()
      const failing = pay({ tail: [{ program: programs.lighthouse, accounts: [], data: Uint8Array.of(0xff, 0xfe) }] })

      assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(failing))), "PAYMENT_INVALID")
    }).pipe(inScope)
  )

  live("on an expired blockhash is stale, at verification and at settlement", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme, settle } = yield* scene()
      const checked = pay()
      yield* chain.expireBlockhashes

      assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(checked))), "PAYMENT_BLOCKHASH_STALE")
      const settled = yield* Effect.result(settle(checked))
      assert(Result.isFailure(settled) && settled.failure._tag === "SettlementRefused")
      assert.strictEqual(settled.failure.code, "PAYMENT_BLOCKHASH_STALE")
      assert.isNull(settled.failure.transaction)
    }).pipe(inScope)
  )

  live("on a blockhash grows stale by itself after its slots", () =>
    Effect.gen(function* () {
      const { pay, scheme } = yield* scene({}, { slotMs: 200, blockhashSlots: 10 })
      const checked = pay()
      yield* scheme.simulate(checked)
      const isStale = Effect.map(Effect.result(scheme.simulate(checked)), (result) => {
        if (Result.isFailure(result)) assert.strictEqual(codeOf(result), "PAYMENT_BLOCKHASH_STALE")
        return Result.isFailure(result)
      })
      yield* eventually(isStale)
    }).pipe(inScope)
  )

  live("whose wallet is emptied meanwhile is refused at settlement, before a submission", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme, settle } = yield* scene()
      const checked = pay()
      yield* scheme.simulate(checked)
      yield* chain.fund(chain.payer.address, -((yield* chain.balance(chain.payer.address)) ?? 0n))
      const settled = yield* Effect.result(settle(checked))

      assert.strictEqual(codeOf(settled), "PAYMENT_UNFUNDED")
      assert.strictEqual(chain.bank.history.size, 0)
    }).pipe(inScope)
  )

  live("from the token account of a mint of Token-2022 is settled too", () =>
    Effect.gen(function* () {
      const { chain, scene: parts, scheme } = yield* scene()
      const asset = signerOf("another mint").address
      const [source, destination] = yield* Effect.promise(() =>
        Promise.all([chain.payer, chain.payTo].map((one) => tokenAccountOf(one.address, asset, programs.token2022)))
      )
      assert(source !== undefined && destination !== undefined)
      const { mintAccount } = yield* Effect.promise(() => import("../../../../../dev/chain/solana/token-state.ts"))
      chain.bank.svm.setAccount(mintAccount(asset, programs.token2022, 6))
      for (const [at, owner, units] of [
        [source, chain.payer.address, amount],
        [destination, chain.payTo.address, 0n]
      ] as const) {
        const state = { mint: asset, owner, amount: units, isFrozen: false }
        chain.bank.svm.setAccount(tokenAccount(at, programs.token2022, state))
      }
      const make = yield* Effect.promise(() => paymentMaker(parts))
      const third = transfer({
        program: programs.token2022,
        mint: asset,
        source,
        destination,
        authority: chain.payer.address,
        amount
      })
      const checked = checkedFrom(scheme, make.wire({ third }), { ...make.requirements(), asset })
      yield* scheme.simulate(checked)
      yield* scheme.broadcast(yield* scheme.prepare(checked, leaseOf(chain)), checked)

      assert.strictEqual((yield* scheme.look(checked, [...chain.bank.history.keys()][0] ?? null))._tag, "Settled")
    }).pipe(inScope)
  )
})
