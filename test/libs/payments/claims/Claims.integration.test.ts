import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Result, Stream } from "effect"
import { ClaimMove, type Claim, ClaimLost, claimOfJob, Claims, factsOf, verifiedClaim } from "#payments"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { jobs, onBus, stateOf, why, settlingOf } from "./claims-on-bus.ts"

/** A later life of a claim changes these fields of the job's. */
const taken = ({ record: { ticket, moves } }: Claim) => ({ ticket, moves })

describe("a claim", () => {
  it.live("goes from the claim to the receipt, and no revision is moved twice", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        const answer = { _tag: "Verified", claimKey: claimed.key, claim: factsOf(claimed) } as const
        assert.deepStrictEqual(verifiedClaim(checkedPayment("one"), answer), claimed)
        const serving = yield* claims.move(claimed, ClaimMove.Serve())
        const settling = yield* settlingOf(claims, serving, { instance: "gateway-1", session: "s1" })
        assert.strictEqual(settling.record.state, "SETTLING")
        const { messages, first } = yield* jobs
        assert.strictEqual(messages, 1)
        const job = Result.getOrThrow(Option.getOrThrow(first))
        assert.deepInclude(job, { claimKey: claimed.key, replyTo: { instance: "gateway-1", session: "s1" } })
        assert.deepStrictEqual(job.payload, checkedPayment("one").payload)
        assert.deepStrictEqual(claimOfJob(job), settling)

        const prepared = yield* claims.move(settling, ClaimMove.Prepare({ transaction: "0xaa" }))
        const again = yield* Effect.exit(claims.move(settling, ClaimMove.Prepare({ transaction: "0xbb" })))
        assert.isTrue(Option.getOrThrow(Exit.findErrorOption(again)) instanceof ClaimLost)
        const settled = yield* claims.move(prepared, ClaimMove.Settled({ transaction: "0xaa" }))
        assert.strictEqual(settled.record.state, "SETTLED")
        assert.deepStrictEqual(settled.record.transactions, ["0xaa"])
        assert.isNull(settled.record.payment)
        const payer = Option.getOrThrow(yield* claims.payer(settled.record))
        assert.deepStrictEqual(payer.places, [])
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("one"), testCall()))), "replay")
        yield* claims.claim(checkedPayment("two"), testCall())
        const all = yield* Stream.runCollect(claims.all)
        assert.deepStrictEqual(all.map(({ record }) => record.state).toSorted(), ["CLAIMED", "SETTLED"])
      })
    )
  )

  it.live("is taken over by a repeated request, and the first one can undo nothing", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const call = testCall("stream")
        const first = yield* claims.claim(checkedPayment("one"), call)
        const second = yield* claims.claim(checkedPayment("one"), call)
        assert.isAbove(second.revision, first.revision)
        assert.deepStrictEqual(second.record, { ...first.record, moves: 1 })
        assert.isTrue(
          (yield* Effect.exit(claims.moveAsRead(first, ClaimMove.Release({ reason: "too late" }))))._tag === "Failure"
        )
        // Its place is still held, and any other claim is a replay.
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("two"), testCall("stream")))), "unpaid")
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("one"), testCall("stream")))), "replay")

        const serving = yield* claims.move(second, ClaimMove.Serve())
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("one"), call))), "replay")
        assert.isTrue(
          (yield* Effect.exit(claims.moveAsRead(second, ClaimMove.Release({ reason: "too late" }))))._tag === "Failure"
        )
        assert.deepStrictEqual(Option.getOrThrow(yield* claims.read(first.key)), serving)
      })
    )
  )

  it.live("that is abandoned is free, and so is its place", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        assert.strictEqual(
          (yield* claims.moveAsRead(claimed, ClaimMove.Release({ reason: "not verified" }))).record.state,
          "RELEASED"
        )
        const next = yield* claims.claim(checkedPayment("two"), testCall("stream"))
        assert.strictEqual(next.record.state, "CLAIMED")
        yield* claims.moveAsRead(next, ClaimMove.Release({ reason: "not verified" }))
        assert.strictEqual((yield* claims.claim(checkedPayment("one"), testCall())).record.moves, 1)
      })
    )
  )

  it.live("that was released before an answer was delivered can be taken again, and its old holder has lost it", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const first = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        yield* claims.move(first, ClaimMove.Release({ reason: "upstream failed" }))
        const second = yield* claims.claim(checkedPayment("one"), testCall("stream", "gateway-2"))
        assert.notStrictEqual(second.record.ticket, first.record.ticket)

        for (const move of [ClaimMove.Serve(), ClaimMove.Renew(), ClaimMove.Release({ reason: "late" })]) {
          const late = yield* Effect.exit(claims.move(first, move))
          assert.isTrue(Option.getOrThrow(Exit.findErrorOption(late)) instanceof ClaimLost)
        }
        assert.strictEqual(yield* stateOf(first.key), "CLAIMED")
        assert.strictEqual((yield* claims.move(second, ClaimMove.Serve())).record.state, "SERVING")
        const payer = Option.getOrThrow(yield* claims.payer(second.record))
        const { ticket, amount } = second.record
        assert.deepStrictEqual(payer.places, [{ claimKey: second.key, ticket, amount, isGivenOut: true }])
      })
    )
  )

  it.live("becomes SETTLING by the write that names its first transaction, in the life of its request", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall())
        yield* claims.requestSettlement(claimed, null)
        assert.strictEqual(yield* stateOf(claimed.key), "CLAIMED")
        const fromJob = claimOfJob(Result.getOrThrow(Option.getOrThrow((yield* jobs).first)))
        if (fromJob === undefined) throw new Error("the job does not say")
        yield* claims.move(claimed, ClaimMove.Release({ reason: "lease ended" }))
        const late = yield* Effect.exit(claims.move(fromJob, ClaimMove.Prepare({ transaction: "0xaa" })))
        assert.isTrue(Option.getOrThrow(Exit.findErrorOption(late)) instanceof ClaimLost)

        const again = yield* claims.claim(checkedPayment("one"), testCall())
        const prepared = yield* claims.move(
          { ...fromJob, ...again, record: { ...fromJob.record, ...taken(again) } },
          ClaimMove.Prepare({ transaction: "0xbb" })
        )
        assert.deepStrictEqual(Option.getOrThrow(yield* claims.read(again.key)), prepared)
        const { state, transactions, asked, requestedAtMs } = prepared.record
        assert.deepStrictEqual([state, transactions, asked], ["SETTLING", ["0xbb"], 1])
        assert.isNotNull(requestedAtMs)
        // The gateway that has waited for it finds it so, and can neither undo it nor ask in vain.
        const commit = yield* Effect.exit(claims.move(again, ClaimMove.Settle()))
        assert.isTrue(Option.getOrThrow(Exit.findErrorOption(commit)) instanceof ClaimLost)
      })
    )
  )

  it.live("that is requested before and after it is SETTLING leaves one job", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall())
        yield* claims.requestSettlement(claimed, null)
        yield* settlingOf(claims, claimed, null)
        assert.strictEqual((yield* jobs).messages, 1)
      })
    )
  )

  it.live("of a new payment is written at once, and refused when it does not fit", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const unmet = (name: string, kind: "whole" | "stream" = "whole") =>
          claims.claim(checkedPayment(name), testCall(kind), { isFirstSeen: true })
        const one = yield* unmet("one", "stream")
        assert.strictEqual(why(yield* Effect.exit(unmet("one"))), "replay")
        assert.strictEqual(why(yield* Effect.exit(unmet("two", "stream"))), "unpaid")
        assert.strictEqual(yield* stateOf(checkedPayment("two").claimKey), "RELEASED")
        // A refused payer is checked first, and writes nothing.
        assert.isFalse(yield* claims.isFirstSeen(checkedPayment("three")))
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("three"), testCall("stream")))), "unpaid")
        assert.strictEqual(yield* stateOf(checkedPayment("three").claimKey), "absent")

        yield* claims.move(one, ClaimMove.Release({ reason: "upstream failed" }))
        const two = yield* unmet("two", "stream")
        assert.strictEqual(two.record.moves, 1)
        const settling = yield* settlingOf(claims, two, null)
        yield* claims.move(settling, ClaimMove.Uncollected({ reason: "authorization cancelled" }))
        assert.strictEqual(why(yield* Effect.exit(unmet("four"))), "denied")
        assert.strictEqual(yield* stateOf(checkedPayment("four").claimKey), "RELEASED")
      })
    )
  )

  it.live("is renewed beside its holder's work without conflicts", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        yield* claims.move(claimed, ClaimMove.Renew())
        yield* claims.move(claimed, ClaimMove.Renew())
        const serving = yield* claims.move(claimed, ClaimMove.Serve())
        yield* claims.move(claimed, ClaimMove.Renew())
        assert.strictEqual((yield* settlingOf(claims, serving, null)).record.state, "SETTLING")
      })
    )
  )

  it.live("of an uncollectable payment denies its payer, and nobody else", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        const settling = yield* settlingOf(claims, claimed, null)
        yield* claims.move(settling, ClaimMove.Uncollected({ reason: "authorization cancelled" }))
        assert.strictEqual(yield* stateOf(claimed.key), "UNCOLLECTED")

        const next = yield* Effect.exit(claims.claim(checkedPayment("two"), testCall()))
        assert.strictEqual(why(next), "denied")
        assert.strictEqual(yield* stateOf(checkedPayment("two").claimKey), "absent")
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(claims.claim(checkedPayment("x", "bob"), testCall()))))
      })
    )
  )
})
