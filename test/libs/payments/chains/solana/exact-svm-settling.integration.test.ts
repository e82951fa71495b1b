import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"
import { codeOf, inScope, live, openScheme, scene } from "./fixture.ts"
import { amount } from "./vectors.ts"

/** As the scheme of these tests polls, and as long as a busy machine may take. */
const patience = { pollMs: 10, resendMs: 50, deadlineMs: 20_000 }

describe("settling on Solana", () => {
  live("continues when the answer to the submission is lost", () =>
    Effect.gen(function* () {
      const { chain, pay, settle } = yield* scene()
      chain.switches.outageMethods = ["sendTransaction"]
      chain.switches.outage = "loses answers"
      yield* settle(pay())

      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
    }).pipe(inScope)
  )

  live("sends a transaction again that no leader took", () =>
    Effect.gen(function* () {
      // Long enough that a busy machine hears of the third before a fourth is due.
      const { chain, pay, settle } = yield* scene({}, {}, { settle: { ...patience, resendMs: 1_000 } })
      chain.switches.sendsLost = 2
      yield* settle(pay())

      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
      assert.strictEqual(chain.calls.get("sendTransaction"), 3)
    }).pipe(inScope)
  )

  live("is pending, with the transaction's signature, when its status is unknown", () =>
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

  live("is pending, not refused, when the chain is lost after the submission", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme } = yield* scene()
      const impatient = yield* openScheme(chain, {
        rpcDeadlineMs: 50,
        settle: { deadlineMs: 200, pollMs: 10, resendMs: 50 }
      })
      const prepared = yield* scheme.prepare(pay(), lease)
      chain.switches.outageMethods = ["sendTransaction", "getSignatureStatuses"]
      chain.switches.outage = "silent"

      assert.strictEqual(codeOf(yield* Effect.result(impatient.broadcast(prepared, pay()))), "SettlementPending")
    }).pipe(inScope)
  )

  live("is unavailable without any connection, because nothing was sent", () =>
    Effect.gen(function* () {
      const { pay, settle } = yield* scene({}, {}, { rpcUrls: ["http://127.0.0.1:9"] })

      assert.strictEqual(codeOf(yield* Effect.result(settle(pay()))), "ChainUnavailable")
    }).pipe(inScope)
  )

  live("is pending when the chain already has it and does not report its end", () =>
    Effect.gen(function* () {
      const { chain, lease, pay, scheme, settle } = yield* scene()
      const impatient = yield* openScheme(chain, { settle: { deadlineMs: 100, pollMs: 10, resendMs: 50 } })
      yield* settle(pay())
      chain.switches.hidesStatuses = true
      const prepared = yield* scheme.prepare(pay(), lease)

      assert.strictEqual(codeOf(yield* Effect.result(impatient.broadcast(prepared, pay()))), "SettlementPending")
    }).pipe(inScope)
  )

  live("is refused when no node accepts the signature", () =>
    Effect.gen(function* () {
      const { lease, pay, scheme } = yield* scene()
      const prepared = yield* scheme.prepare(pay(), lease)
      const raw = Uint8Array.from(prepared.raw)
      raw[7] = (raw[7] ?? 0) ^ 1

      assert.strictEqual(codeOf(yield* Effect.result(scheme.broadcast({ ...prepared, raw }, pay()))), "PAYMENT_INVALID")
    }).pipe(inScope)
  )

  live("is harmless a second time, even after a crash during the first", () =>
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
      yield* eventually(() => asked(), { is: (seen) => seen >= 3 })
      yield* Fiber.interrupt(fiber)
      // One request may have been under way; a live settler asks every ten milliseconds.
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
