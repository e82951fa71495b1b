import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { ClaimMove, Claims, type ReadFunds, sweepClaims } from "#payments"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { checkedPayment, testCall, testRequirements } from "../../../support/payments.ts"
import { onBus, optionsFor, patiently, stateOf, why, settlingOf } from "./claims-on-bus.ts"

const price = BigInt(testRequirements.amount)

/** A wallet as a chain would report it. `tells`: whether the balance comes with the payments already made. */
const walletOf = (calls: number, tells = true) => {
  const made = new Set<string>()
  let asked = 0
  const balance = () => BigInt(calls - made.size) * price
  const ask: ReadFunds = (claimKeys) =>
    Effect.sync(() => {
      asked += 1
      return { balance: balance(), spent: tells ? new Set(claimKeys.filter((key) => made.has(key))) : null }
    })
  return { ask, balance, make: (claimKey: string) => void made.add(claimKey), asked: () => asked }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`)

describe("a payer's reservations", () => {
  for (const tells of [true, false]) {
    it.live(
      `are never more than the wallet holds, of two hundred at once over two processes, on a chain that ${tells ? "tells" : "does not tell"} what it has made`,
      () =>
        Effect.gen(function* () {
          const server = yield* natsServer
          const replica = Layer.fresh(Claims.layer(optionsFor(200)).pipe(Layer.provideMerge(busOn(server))))
          const wallet = walletOf(7, tells)
          const flood = (from: string) =>
            Effect.gen(function* () {
              const claims = yield* Claims
              return yield* Effect.forEach(
                names(100),
                (name) => {
                  const call = testCall(name.endsWith("1") ? "stream" : "whole", from)
                  const options = { isFirstSeen: true, readFunds: wallet.ask }
                  return Effect.exit(patiently(claims.claim(checkedPayment(`${from} ${name}`), call, options)))
                },
                { concurrency: 100 }
              )
            }).pipe(Effect.provide(replica))
          const exits = (yield* Effect.all([flood("gateway-1"), flood("gateway-2")], { concurrency: 2 })).flat()
          assert.strictEqual(exits.filter(Exit.isSuccess).length, 7)
          assert.strictEqual(exits.filter((exit) => why(exit) === "exposure").length, 193)
        })
    )
  }

  it.live("never use a balance from before a settlement's end as one after it", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const wallet = walletOf(1, false)
        const first = yield* claims.claim(checkedPayment("one"), testCall(), {
          isFirstSeen: true,
          readFunds: wallet.ask
        })
        const settling = yield* settlingOf(claims, first, null)
        // Seen while the money is there; reported when it is gone, and its claim has ended.
        const isAsked = yield* Deferred.make<void>()
        const mayAnswer = yield* Deferred.make<void>()
        let isFirst = true
        const late: ReadFunds = (claimKeys) => {
          if (!isFirst) return wallet.ask(claimKeys)
          isFirst = false
          const balance = wallet.balance()
          return Deferred.succeed(isAsked, undefined).pipe(
            Effect.andThen(Deferred.await(mayAnswer)),
            Effect.as({ balance, spent: null })
          )
        }
        const second = yield* Effect.forkChild(
          Effect.exit(claims.claim(checkedPayment("two"), testCall(), { isFirstSeen: true, readFunds: late })),
          { startImmediately: true }
        )
        yield* Deferred.await(isAsked)
        wallet.make(first.key)
        yield* claims.move(settling, ClaimMove.Settled({ transaction: "0xaa" }))
        yield* Deferred.succeed(mayAnswer, undefined)
        assert.strictEqual(why(yield* Fiber.join(second)), "unfunded")
        // Alone, and a moment after a settlement: the simulation may have seen an older state.
        const third = yield* Effect.exit(
          claims.claim(checkedPayment("three"), testCall(), { isFirstSeen: true, readFunds: wallet.ask })
        )
        assert.strictEqual(why(third), "unfunded")
        assert.strictEqual(yield* stateOf(checkedPayment("three").claimKey), "RELEASED")
      }),
      // The credit is not what refuses here.
      3
    )
  )

  it.live("of a payer without other claims ask nothing, and count transfers that are made but not yet recorded", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const wallet = walletOf(3)
        const take = (name: string) =>
          claims.claim(checkedPayment(name), testCall(), { isFirstSeen: true, readFunds: wallet.ask })
        const one = yield* take("one")
        assert.strictEqual(wallet.asked(), 0)
        wallet.make(one.key)
        yield* take("two")
        yield* take("three")
        assert.strictEqual(why(yield* Effect.exit(take("four"))), "exposure")
        // A refused payer is checked first, and writes nothing.
        const again = claims.claim(checkedPayment("five"), testCall(), { readFunds: wallet.ask })
        assert.strictEqual(why(yield* Effect.exit(again)), "exposure")
        assert.strictEqual(yield* stateOf(checkedPayment("five").claimKey), "absent")
        yield* claims.move(one, ClaimMove.Release({ reason: "its call failed" }))
        assert.strictEqual((yield* Effect.result(take("six")))._tag, "Failure")
      }),
      64
    )
  )

  it.live("of a killed verifier or gateway are released, even while their payer continues calling", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const wallet = walletOf(2)
        const take = (name: string) =>
          claims.claim(checkedPayment(name), testCall(), { isFirstSeen: true, readFunds: wallet.ask })
        const left = yield* take("left by a gateway")
        // As a verifier leaves it that dies between its payer's record and the claim.
        const orphan = { ...checkedPayment("left by a verifier"), claimKey: `${left.key.slice(0, -4)}dead` }
        const held = yield* claims.claim(orphan, testCall(), { readFunds: wallet.ask })
        yield* claims.expose({ ...held, record: { ...held.record, ticket: "an orphan" } })
        yield* claims.move(held, ClaimMove.Release({ reason: "its call failed" }))
        assert.strictEqual(why(yield* Effect.exit(take("refused"))), "exposure")
        const busy = yield* Effect.forkChild(
          Effect.forever(
            Effect.gen(function* () {
              const other = yield* claims.claim(checkedPayment("busy"), testCall(), {})
              yield* claims.move(other, ClaimMove.Release({ reason: "its call failed" }))
              yield* Effect.sleep(50)
            })
          )
        )
        const times = { leaseMs: 1_000, settleWithinMs: 500 }
        const sweeper = yield* Effect.forkChild(sweepClaims({ holder: "settler-1", times, everyMs: 100 }))
        yield* eventually(stateOf(left.key), { is: (state) => state === "RELEASED" })
        yield* eventually(Effect.exit(take("two")), { is: Exit.isSuccess })
        yield* Fiber.interrupt(busy)
        yield* eventually(Effect.orDie(claims.payer(left.record)), {
          is: (payer) => payer._tag === "None" || payer.value.places.every(({ ticket }) => ticket !== "an orphan")
        })
        yield* Fiber.interrupt(sweeper)
      }),
      64
    )
  )
})
