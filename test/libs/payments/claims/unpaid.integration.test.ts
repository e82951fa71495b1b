import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Schedule } from "effect"
import { type Claim, ClaimMove, Claims, sweepClaims } from "#payments"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { checkedPayment, testCall, testRequirements } from "../../../support/payments.ts"
import { onBus, optionsFor, settlingOf, why } from "./claims-on-bus.ts"

const price = Number(testRequirements.amount)
const tries = Array.from({ length: 200 }, (_, index) => index)
const kindOf = (index: number) => (index % 2 === 0 ? "stream" : "whole")
const refusals = (exits: ReadonlyArray<Exit.Exit<unknown, unknown>>, reason: string) =>
  exits.filter((exit) => why(exit) === reason).length

describe("the calls of a payer that are not paid", () => {
  for (const callsMax of [1, 3]) {
    it.live(`cost no more than ${callsMax} of them, whole or streamed, however many are asked for at once`, () =>
      onBus(
        Effect.gen(function* () {
          const claims = yield* Claims
          const exits = yield* Effect.forEach(
            tries,
            (index) => Effect.exit(claims.claim(checkedPayment(`n${index}`), testCall(kindOf(index)))),
            { concurrency: 200 }
          )
          assert.strictEqual(exits.filter(Exit.isSuccess).length, callsMax)
          assert.strictEqual(refusals(exits, "unpaid"), 200 - callsMax)

          const [one] = exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
          if (one === undefined) return assert.fail("nobody has a place")
          yield* claims.move(yield* settlingOf(claims, one, null), ClaimMove.Settled({ transaction: "0xaa" }))
          const next = yield* claims.claim(checkedPayment("next"), testCall("stream"))
          assert.strictEqual(next.record.state, "CLAIMED")
          // A refused payment was let go: it can be used once there is room.
          yield* claims.move(next, ClaimMove.Release({ reason: "upstream failed" }))
          const refused = exits.findIndex(Exit.isFailure)
          yield* claims.claim(checkedPayment(`n${refused}`), testCall("stream"))
        }),
        callsMax
      )
    )
  }

  const ends: ReadonlyArray<
    readonly [string, (claims: Claims["Service"], claim: Claim) => Effect.Effect<unknown, unknown>]
  > = [
    [
      "was not collected, of an answer that was not given out",
      (claims, claim) =>
        Effect.flatMap(settlingOf(claims, claim, null), (next) =>
          claims.move(next, ClaimMove.Withheld({ reason: "insufficient_funds", isPayersDoing: true }))
        )
    ],
    [
      "was left with a provider at work",
      (claims, claim) => claims.move(claim, ClaimMove.Release({ reason: "its caller left", isPayersDoing: true }))
    ]
  ]
  it.live.each(ends)("count on when one %s", ([, end]) =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const exits: Array<Exit.Exit<unknown, unknown>> = []
        // One after the other: nothing is unpaid at the same time.
        for (const index of tries.slice(0, 20)) {
          const claimed = yield* Effect.exit(claims.claim(checkedPayment(`n${index}`), testCall()))
          exits.push(claimed)
          if (Exit.isSuccess(claimed)) yield* Effect.orDie(end(claims, claimed.value))
        }
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 3)
        assert.strictEqual(refusals(exits, "unpaid"), 17)
        // Not for others.
        yield* claims.claim(checkedPayment("other", "bob"), testCall())
      }),
      3
    )
  )

  it.live("do not count when their payer calls again as soon as it hears that they are settled", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        for (const index of tries.slice(0, 5)) {
          const paid = yield* settlingOf(claims, yield* claims.claim(checkedPayment(`n${index}`), testCall()), null)
          // By now its caller has the receipt; the claim and the payer are written next.
          const again = checkedPayment(`again ${index}`)
          const calling = yield* Effect.forkChild(
            claims.claim(again, testCall(), { isFirstSeen: yield* claims.isFirstSeen(again) }),
            { startImmediately: true }
          )
          yield* claims.move(paid, ClaimMove.Settled({ transaction: "0xaa" }))
          yield* claims.move(yield* Fiber.join(calling), ClaimMove.Release({ reason: "upstream failed" }))
        }
      })
    )
  )

  it.live("do not count when a call fails that is not the payer's fault, nor when the chain was away", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        for (const index of tries.slice(0, 6)) {
          const claim = yield* claims.claim(checkedPayment(`n${index}`), testCall())
          yield* index % 2 === 0
            ? claims.move(claim, ClaimMove.Release({ reason: "upstream failed" }))
            : Effect.flatMap(settlingOf(claims, claim, null), (next) =>
                claims.move(next, ClaimMove.Withheld({ reason: "expired", isPayersDoing: false }))
              )
        }
      })
    )
  )

  it.live("may cost as much more as the payer has paid, in any process", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const { credit, keptMs } = optionsFor(1)
      const layer = Claims.layer({ credit: { ...credit, payerMax: 3 * price }, keptMs })
      const process = Layer.fresh(layer.pipe(Layer.provideMerge(busOn(server))))
      yield* Effect.gen(function* () {
        const claims = yield* Claims
        for (const index of tries.slice(0, 5)) {
          const claim = yield* claims.claim(checkedPayment(`paid ${index}`), testCall())
          yield* claims.move(yield* settlingOf(claims, claim, null), ClaimMove.Settled({ transaction: "0xaa" }))
        }
      }).pipe(Effect.provide(process))
      const exits = yield* Effect.gen(function* () {
        const claims = yield* Claims
        return yield* Effect.forEach(
          tries.slice(0, 20),
          (index) => Effect.exit(claims.claim(checkedPayment(`n${index}`), testCall(kindOf(index)))),
          { concurrency: 20 }
        )
      }).pipe(Effect.provide(process))
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 4)
    })
  )

  it.live("are given out ahead of their payment to no payer that is denied", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const [one, two] = yield* Effect.forEach(["one", "two"], (name) =>
          claims.claim(checkedPayment(name), testCall())
        )
        if (one === undefined || two === undefined) return assert.fail("no claim")
        yield* claims.expose(one)
        yield* claims.expose(one)
        const settling = yield* settlingOf(claims, one, null)
        yield* claims.move(settling, ClaimMove.Withheld({ reason: "insufficient_funds", isPayersDoing: true }))
        const second = yield* Effect.exit(claims.expose(two))
        assert.strictEqual(Option.getOrThrow(Exit.findErrorOption(second))._tag, "ExposureReached")
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("x"), testCall("stream")))), "denied")
        yield* claims.pardon({ ...one.record }, one.key)
        yield* claims.claim(checkedPayment("x"), testCall("stream"))
      }),
      3
    )
  )
})

describe("the calls of all newcomers that are not paid", () => {
  it.live(
    "stay within their bound, of new wallets at once over two processes, and who has paid is served all the same",
    () =>
      Effect.gen(function* () {
        const server = yield* natsServer
        const callsMax = 20
        const { credit, keptMs } = optionsFor(1)
        const layer = Claims.layer({
          credit: { ...credit, payerMax: 2 * price, newPayersMax: callsMax * price },
          keptMs
        })
        const process = Layer.fresh(layer.pipe(Layer.provideMerge(busOn(server))))
        const [first, second] = yield* Effect.all([Layer.build(process), Layer.build(process)])
        const claim = (index: number, payer: string) =>
          Effect.provideContext(
            Effect.flatMap(Claims, (claims) =>
              claims.claim(checkedPayment(`${index}`, payer), testCall(kindOf(index)))
            ),
            index % 2 === 0 ? first : second
          )
        const settle = (one: Claim, move: ClaimMove) =>
          Effect.provideContext(
            Effect.flatMap(Claims, (claims) =>
              Effect.flatMap(settlingOf(claims, one, null), (next) => claims.move(next, move))
            ),
            first
          )
        const good = yield* claim(1_000, "good")
        yield* settle(good, ClaimMove.Settled({ transaction: "0xaa" }))
        const times = { leaseMs: 60_000, settleWithinMs: 60_000 }
        const sweeper = yield* Effect.forkChild(
          Effect.provideContext(sweepClaims({ holder: "settler-1", times, everyMs: 100 }), first)
        )
        const given: Array<Claim> = []
        const flood = (round: number) =>
          Effect.gen(function* () {
            const exits = yield* Effect.forEach(
              tries.slice(0, 40),
              (index) => Effect.exit(claim(index, `wallet ${round} ${index}`)),
              { concurrency: 40 }
            )
            given.push(...exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : [])))
            assert.strictEqual(exits.filter(Exit.isFailure).length, refusals(exits, "newcomers"))
          })
        let round = 0
        const again = Effect.suspend(() => flood((round += 1)))
        const every = Schedule.spaced("250 millis")
        yield* Effect.repeat(again, { schedule: every, until: () => given.length >= callsMax - 2 })
        // What is lost makes no room, and neither does time: two seconds are two looks at what all processes have given.
        for (const one of given.slice(0, 4)) {
          yield* settle(one, ClaimMove.Withheld({ reason: "insufficient_funds", isPayersDoing: true }))
        }
        yield* Effect.repeat(again, { schedule: every, times: 8 })
        // A call each, beside the bound, in the two processes that do not see each other between two sums.
        assert.isAtMost(given.length, callsMax + 2)
        yield* claim(2_000, "good")
        yield* Fiber.interrupt(sweeper)
      })
  )
})
