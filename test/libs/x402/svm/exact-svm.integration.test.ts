import { assert, describe, it } from "@effect/vitest"

import { Clock, Effect, Fiber, Redacted, Result, Stream } from "effect"
import type { PaymentRequirements } from "#contracts"
import type { LocalSolana } from "../../../../dev/chain/solana/LocalSolanaChain.ts"
import { tokenAccount } from "../../../../dev/chain/solana/token-state.ts"
import { signTransfer, svmDefaults, type SvmScheme } from "#x402"
import { eventually } from "../../../support/bus.ts"
import { egress, openScheme, startScene } from "./scheme.ts"
import { base64Of, memo, payloadOf, programs, signerOf, tokenAccountOf, transfer, wireOf } from "./transactions.ts"
import { amount, type PaymentDraft, paymentMaker } from "./vectors.ts"

const checkedFrom = (scheme: SvmScheme, wire: Uint8Array, requirements: PaymentRequirements, nowMs = Date.now()) => {
  const result = scheme.check(payloadOf(base64Of(wire), requirements), requirements, nowMs)
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.reason : "")
  return result.success
}

const leaseOf = (chain: LocalSolana, scheme: SvmScheme, index = 0) => {
  const key = scheme.readKey(chain.feePayers[index]?.secretKey ?? "")
  assert(Result.isSuccess(key))
  return { key: key.success, nonce: null }
}

/** A payment as it stands before anybody has asked the chain. */
const scene = Effect.fnUntraced(function* (draft: PaymentDraft = {}, ...options: Parameters<typeof startScene>) {
  const started = yield* startScene(...options)
  const { chain, make, scheme } = started
  const pay = (one: PaymentDraft = draft, nowMs?: number) =>
    checkedFrom(scheme, make.wire(one), make.requirements(), nowMs)
  const settle = Effect.fnUntraced(function* (checked: ReturnType<typeof pay>) {
    return yield* scheme.broadcast(yield* scheme.prepare(checked, leaseOf(chain, scheme)), checked)
  })
  return { ...started, pay, settle, lease: leaseOf(chain, scheme) }
})

/** As the scheme of these tests polls, and as long as a busy machine may take. */
const patience = { pollMs: 10, resendMs: 50, deadlineMs: 20_000 }

const live = (name: string, test: () => Effect.Effect<void, unknown, never>) => it.live(name, test)

const codeOf = (result: Result.Result<unknown, { readonly _tag: string; readonly code?: string }>) =>
  Result.isFailure(result) ? (result.failure.code ?? result.failure._tag) : "fine"

const inScope = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof scene>>>) =>
  effect.pipe(Effect.scoped, Effect.provide(egress))

describe("a Solana payment", () => {
  live("that can be made is verified and settled once, and the money is there", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme } = yield* scene({ tail: [memo("a")] })
      const checked = pay()
      yield* scheme.simulate(checked)
      const prepared = yield* scheme.prepare(checked, lease)
      const settlement = yield* scheme.broadcast(prepared, checked)

      assert.strictEqual(settlement.transaction, prepared.transaction)
      assert.strictEqual(settlement.payer, chain.payer.address)
      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
      assert.deepStrictEqual(yield* scheme.look(checked, prepared.transaction), {
        _tag: "Settled",
        transaction: prepared.transaction
      })
    }).pipe(inScope)
  )

  live("that our own payer has signed is settled, under the limits that are set when nobody sets any", () =>
    Effect.gen(function* () {
      const { chain, lease, make, scheme, scene: parts } = yield* scene({}, {}, { limits: svmDefaults.limits })
      const key = yield* Effect.fromResult(scheme.readKey(chain.payer.secretKey))
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

  live("that was settled is a replay, also with other bytes in the fee payer's slot", () =>
    Effect.gen(function* () {
      const { pay, scheme, settle } = yield* scene()
      yield* settle(pay())
      const filled = pay({ alterSignatures: ([, ...rest]) => [new Uint8Array(64).fill(9), ...rest] })

      assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(pay()))), "PAYMENT_REPLAY")
      assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(filled))), "PAYMENT_REPLAY")
    }).pipe(inScope)
  )

  live("that is settled by many at once moves the money once, and all hear of the same transaction", () =>
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

  live("with somebody else's account as its source, or other decimals, is invalid", () =>
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

  live("on a blockhash that has ended is stale, when verified and when settled", () =>
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

  live("whose wallet is emptied meanwhile is refused at settlement, before anything is sent", () =>
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
      const { mintAccount } = yield* Effect.promise(() => import("../../../../dev/chain/solana/token-state.ts"))
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
      yield* scheme.broadcast(yield* scheme.prepare(checked, leaseOf(chain, scheme)), checked)

      assert.strictEqual((yield* scheme.look(checked, [...chain.bank.history.keys()][0] ?? null))._tag, "Settled")
    }).pipe(inScope)
  )
})

describe("what is not the payer's fault", () => {
  live("is never a refusal: no node, silence, broken connections, error pages, nodes that lag", () =>
    Effect.gen(function* () {
      for (const outage of ["silent", "closes", "page", "behind", "loses answers"] as const) {
        const { chain, pay, scheme: patient } = yield* scene()
        const scheme = yield* openScheme(chain, { rpcDeadlineMs: 100 })
        const checked = pay()
        chain.switches.outage = outage

        assert.strictEqual(codeOf(yield* Effect.result(scheme.simulate(checked))), "ChainUnavailable", outage)
        assert.strictEqual(codeOf(yield* Effect.result(scheme.look(checked, null))), "ChainUnavailable", outage)
        chain.switches.outage = "none"
        yield* patient.simulate(checked)
      }
    }).pipe(inScope)
  )

  live("is our own account without SOL", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme, scene: parts } = yield* scene()
      const checked = pay()
      const empty = { ...(chain.bank.account(parts.feePayer.address) ?? assert.fail()), lamports: 0n }
      chain.bank.svm.setAccount(empty as never)
      const result = yield* Effect.result(scheme.simulate(checked))

      assert.strictEqual(codeOf(result), "ChainUnavailable")
      assert(Result.isFailure(result))
      assert.include(result.failure.message, "SOL")
    }).pipe(inScope)
  )

  live("is that the receiver has no token account", () =>
    Effect.gen(function* () {
      const { chain, scene: parts, scheme } = yield* scene()
      const payTo = signerOf("a receiver without an account").address
      const make = yield* Effect.promise(() => paymentMaker({ ...parts, payTo }))
      const checked = checkedFrom(scheme, make.wire(), make.requirements())
      const result = yield* Effect.result(scheme.simulate(checked))

      assert.strictEqual(codeOf(result), "ChainUnavailable")
      assert(Result.isFailure(result))
      assert.include(result.failure.message, payTo)
      assert.isNull(yield* chain.balance(payTo))
    }).pipe(inScope)
  )

  live("is a lease of another fee payer's key", () =>
    Effect.gen(function* () {
      const { chain, pay, scheme } = yield* scene()
      const result = yield* Effect.result(scheme.prepare(pay(), leaseOf(chain, scheme, 1)))

      assert.strictEqual(codeOf(result), "ChainUnavailable")
    }).pipe(inScope)
  )

  live("goes to the next node when one does not answer", () =>
    Effect.gen(function* () {
      const { chain } = yield* scene()
      const { make, scheme, chain: second } = yield* startScene({ seed: "tests" })
      const both = yield* startScene({ seed: "tests" }, { rpcUrls: [chain.rpcUrl, second.rpcUrl] })
      chain.switches.outage = "closes"
      const checked = checkedFrom(scheme, make.wire(), make.requirements())

      yield* both.scheme.simulate(checked)
    }).pipe(inScope)
  )
})

describe("settling", () => {
  live("goes on when the answer to the sending is lost", () =>
    Effect.gen(function* () {
      const { chain, pay, settle } = yield* scene()
      chain.switches.outageMethods = ["sendTransaction"]
      chain.switches.outage = "loses answers"
      yield* settle(pay())

      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
    }).pipe(inScope)
  )

  live("sends again what no leader took", () =>
    Effect.gen(function* () {
      // Long enough that a busy machine hears of the third before a fourth is due.
      const { chain, pay, settle } = yield* scene({}, {}, { settle: { ...patience, resendMs: 1_000 } })
      chain.switches.sendsLost = 2
      yield* settle(pay())

      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
      assert.strictEqual(chain.calls.get("sendTransaction"), 3)
    }).pipe(inScope)
  )

  live("is pending, with the transaction's name, when nobody says what became of it", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme } = yield* scene(
        {},
        {},
        { settle: { deadlineMs: 200, pollMs: 10, resendMs: 50 } }
      )
      const checked = pay()
      const prepared = yield* scheme.prepare(checked, lease)
      chain.switches.hidesStatuses = true
      const result = yield* Effect.result(scheme.broadcast(prepared, checked))

      assert(Result.isFailure(result) && result.failure._tag === "SettlementPending")
      assert.strictEqual(result.failure.transaction, prepared.transaction)
      chain.switches.hidesStatuses = false
      assert.strictEqual((yield* scheme.look(checked, prepared.transaction))._tag, "Settled")
    }).pipe(inScope)
  )

  live("is pending, not refused, when the chain is lost behind the sending", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme } = yield* scene()
      const hasty = yield* openScheme(chain, {
        rpcDeadlineMs: 50,
        settle: { deadlineMs: 200, pollMs: 10, resendMs: 50 }
      })
      const prepared = yield* scheme.prepare(pay(), lease)
      chain.switches.outageMethods = ["sendTransaction", "getSignatureStatuses"]
      chain.switches.outage = "silent"

      assert.strictEqual(codeOf(yield* Effect.result(hasty.broadcast(prepared, pay()))), "SettlementPending")
    }).pipe(inScope)
  )

  live("is unavailable when nothing was connected to, for then nothing was sent", () =>
    Effect.gen(function* () {
      const { pay, settle } = yield* scene({}, {}, { rpcUrls: ["http://127.0.0.1:9"] })

      assert.strictEqual(codeOf(yield* Effect.result(settle(pay()))), "ChainUnavailable")
    }).pipe(inScope)
  )

  live("is pending when the chain has it already and does not say how it ended", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme, settle } = yield* scene()
      const hasty = yield* openScheme(chain, { settle: { deadlineMs: 100, pollMs: 10, resendMs: 50 } })
      yield* settle(pay())
      chain.switches.hidesStatuses = true
      const prepared = yield* scheme.prepare(pay(), lease)

      assert.strictEqual(codeOf(yield* Effect.result(hasty.broadcast(prepared, pay()))), "SettlementPending")
    }).pipe(inScope)
  )

  live("is refused when no node takes the signature", () =>
    Effect.gen(function* () {
      const { lease, pay, scheme } = yield* scene()
      const prepared = yield* scheme.prepare(pay(), lease)
      const raw = Uint8Array.from(prepared.raw)
      raw[7] = (raw[7] ?? 0) ^ 1

      assert.strictEqual(codeOf(yield* Effect.result(scheme.broadcast({ ...prepared, raw }, pay()))), "PAYMENT_INVALID")
    }).pipe(inScope)
  )

  live("is harmless a second time, also after a crash behind the first", () =>
    Effect.gen(function* () {
      const { chain, pay, settle } = yield* scene()
      const first = yield* settle(pay())
      const second = yield* settle(pay())

      assert.strictEqual(second.transaction, first.transaction)
      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
    }).pipe(inScope)
  )

  live("can be interrupted", () =>
    Effect.gen(function* () {
      const { chain, pay, settle } = yield* scene()
      chain.switches.hidesStatuses = true
      const asked = () => chain.calls.get("getSignatureStatuses") ?? 0
      const fiber = yield* Effect.forkChild(settle(pay()))
      yield* eventually(Effect.sync(() => asked() >= 3))
      yield* Fiber.interrupt(fiber)
      // One question may have been on its way; who goes on asks every ten milliseconds.
      let before = -1
      const isQuiet = Effect.sync(() => {
        const quiet = asked() === before
        before = asked()
        return quiet
      })
      yield* eventually(Effect.andThen(Effect.sleep(200), isQuiet))
    }).pipe(inScope)
  )
})

describe("a look at the chain", () => {
  live("tells what is unused, what has ended for good, and what is not decided", () =>
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
      while (!seen.includes("Expired")) {
        const { _tag } = yield* scheme.look(old, null)
        if (seen.at(-1) !== _tag) seen.push(_tag)
        yield* Effect.sleep(10)
      }

      assert.deepStrictEqual(seen, ["Unused", "Undecided", "Expired"])
    }).pipe(inScope)
  )

  live("finds a transaction that failed in its block spent", () =>
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

describe("the transfers to the receiver", () => {
  live("come oldest first, from a position on, with what names their payment", () =>
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

  live("include what nobody asked for, with the owner who lost as its payer", () =>
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
