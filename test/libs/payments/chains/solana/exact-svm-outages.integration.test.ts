import { assert, describe } from "@effect/vitest"
import { Effect, Result } from "effect"
import { checkedFrom, codeOf, inScope, leaseOf, live, openScheme, scene, startScene } from "./fixture.ts"
import { signerOf } from "./transactions.ts"
import { paymentMaker } from "./vectors.ts"

describe("a failure that is not the payer's fault", () => {
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

  live("is a receiver without a token account", () =>
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
      const result = yield* Effect.result(scheme.prepare(pay(), leaseOf(chain, 1)))

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
