import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Result, Stream } from "effect"
import { Kv, Mailbox, StreamReader, topology } from "#bus"
import { Metrics } from "#runtime"
import {
  type Claim,
  ClaimLost,
  claimOfJob,
  ClaimRefused,
  Claims,
  factsOf,
  settlementJobCodec,
  sweepClaims,
  verifiedClaim
} from "#x402"
import { ClaimRecord } from "../../../../libs/x402/claim/claim-record.ts"
import { busOn, eventually, natsServer, withBus } from "../../../support/bus.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"

const options = { exposureMax: 1, keptMs: 86_400_000 }
const times = { leaseMs: 1_000, settleWithinMs: 500 }

const onBus = <A, E, R>(test: Effect.Effect<A, E, R>, exposureMax = 1) =>
  withBus(() => test.pipe(Effect.provide(Claims.layer({ ...options, exposureMax }))), topology)

const why = (exit: Exit.Exit<unknown, unknown>) => {
  const error = Exit.findErrorOption(exit)
  return Option.isSome(error) && error.value instanceof ClaimRefused ? error.value.why : "none"
}

const stateOf = (key: string) =>
  Effect.map(
    Effect.flatMap(Claims, ({ read }) => read(key)),
    (found) => (Option.isSome(found) ? found.value.record.state : "absent")
  )

/** What a later life of a claim changes of the job's. */
const taken = ({ record: { ticket, moves } }: Claim) => ({ ticket, moves })

const jobs = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { messages } = yield* reader.bounds("SETTLEMENTS")
  const first = yield* reader.next("SETTLEMENTS", 0)
  return { messages, first: Option.map(first, (message) => settlementJobCodec.decode(message)) }
})

/** On a machine that is busy with other things an answer may come too late; that is no refusal. */
const patiently = <A, E extends { readonly _tag: string }, R>(work: Effect.Effect<A, E, R>) =>
  Effect.retry(work, { times: 10, while: ({ _tag }) => _tag === "BusUnavailable" })

describe("a claim", () => {
  it.live("goes from the claim to the receipt, and no revision is moved twice", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        const answer = { _tag: "Verified", claimKey: claimed.key, claim: factsOf(claimed) } as const
        assert.deepStrictEqual(verifiedClaim(checkedPayment("one"), answer), claimed)
        const serving = yield* claims.serve(claimed)
        const settling = yield* claims.settling(serving, { instance: "gateway-1", session: "s1" })
        assert.strictEqual(settling.record.state, "SETTLING")
        const { messages, first } = yield* jobs
        assert.strictEqual(messages, 1)
        const job = Result.getOrThrow(Option.getOrThrow(first))
        assert.deepInclude(job, { claimKey: claimed.key, replyTo: { instance: "gateway-1", session: "s1" } })
        assert.deepStrictEqual(job.payload, checkedPayment("one").payload)
        assert.deepStrictEqual(claimOfJob(job), settling)

        const prepared = yield* claims.prepared(settling, "0xaa")
        const again = yield* Effect.exit(claims.prepared(settling, "0xbb"))
        assert.isTrue(Option.getOrThrow(Exit.findErrorOption(again)) instanceof ClaimLost)
        const settled = yield* claims.settled(prepared, "0xaa")
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

  it.live("is taken over by who asks the same question again, and the first one can undo nothing", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const call = testCall("stream")
        const first = yield* claims.claim(checkedPayment("one"), call)
        const second = yield* claims.claim(checkedPayment("one"), call)
        assert.isAbove(second.revision, first.revision)
        assert.deepStrictEqual(second.record, { ...first.record, moves: 1 })
        assert.isTrue((yield* Effect.exit(claims.giveUp(first, "too late")))._tag === "Failure")
        // Its place is still held, and anybody else is a replay.
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("two"), testCall("stream")))), "exposure")
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("one"), testCall("stream")))), "replay")

        const serving = yield* claims.serve(second)
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("one"), call))), "replay")
        assert.isTrue((yield* Effect.exit(claims.giveUp(second, "too late")))._tag === "Failure")
        assert.deepStrictEqual(Option.getOrThrow(yield* claims.read(first.key)), serving)
      })
    )
  )

  it.live("that is given up is free, and so is its place", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        assert.strictEqual((yield* claims.giveUp(claimed, "not verified")).record.state, "RELEASED")
        const next = yield* claims.claim(checkedPayment("two"), testCall("stream"))
        assert.strictEqual(next.record.state, "CLAIMED")
        yield* claims.giveUp(next, "not verified")
        assert.strictEqual((yield* claims.claim(checkedPayment("one"), testCall())).record.moves, 1)
      })
    )
  )

  it.live("that was released before an answer was given is taken again, and its old holder has lost it", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const first = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        yield* claims.release(first, "upstream failed")
        const second = yield* claims.claim(checkedPayment("one"), testCall("stream", "gateway-2"))
        assert.notStrictEqual(second.record.ticket, first.record.ticket)

        for (const move of [claims.serve, claims.renew, (claim: Claim) => claims.release(claim, "late")]) {
          const late = yield* Effect.exit(move(first))
          assert.isTrue(Option.getOrThrow(Exit.findErrorOption(late)) instanceof ClaimLost)
        }
        assert.strictEqual(yield* stateOf(first.key), "CLAIMED")
        assert.strictEqual((yield* claims.serve(second)).record.state, "SERVING")
        const payer = Option.getOrThrow(yield* claims.payer(second.record))
        assert.deepStrictEqual(payer.places, [{ claimKey: second.key, ticket: second.record.ticket }])
      })
    )
  )

  it.live("is made SETTLING by the write that names its first transaction, in the life in which it was asked for", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall())
        yield* claims.ask(claimed, null)
        assert.strictEqual(yield* stateOf(claimed.key), "CLAIMED")
        const told = claimOfJob(Result.getOrThrow(Option.getOrThrow((yield* jobs).first)))
        if (told === undefined) throw new Error("the job does not say")
        yield* claims.release(claimed, "lease ended")
        const late = yield* Effect.exit(claims.prepared(told, "0xaa"))
        assert.isTrue(Option.getOrThrow(Exit.findErrorOption(late)) instanceof ClaimLost)

        const again = yield* claims.claim(checkedPayment("one"), testCall())
        const prepared = yield* claims.prepared(
          { ...told, ...again, record: { ...told.record, ...taken(again) } },
          "0xbb"
        )
        assert.deepStrictEqual(Option.getOrThrow(yield* claims.read(again.key)), prepared)
        const { state, transactions, asked, requestedAtMs } = prepared.record
        assert.deepStrictEqual([state, transactions, asked], ["SETTLING", ["0xbb"], 1])
        assert.isNotNull(requestedAtMs)
        // The gateway that has waited for it finds it so, and can neither undo it nor ask in vain.
        const commit = yield* Effect.exit(claims.commit(again))
        assert.isTrue(Option.getOrThrow(Exit.findErrorOption(commit)) instanceof ClaimLost)
      })
    )
  )

  it.live("that is asked for before and after it is SETTLING leaves one job", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall())
        yield* claims.ask(claimed, null)
        yield* claims.settling(claimed, null)
        assert.strictEqual((yield* jobs).messages, 1)
      })
    )
  )

  it.live("of an unmet payment is written at once, and is refused all the same to whom it is not due", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const unmet = (name: string, kind: "whole" | "stream" = "whole") =>
          claims.claim(checkedPayment(name), testCall(kind), true)
        const one = yield* unmet("one", "stream")
        assert.strictEqual(why(yield* Effect.exit(unmet("one"))), "replay")
        assert.strictEqual(why(yield* Effect.exit(unmet("two", "stream"))), "exposure")
        assert.strictEqual(yield* stateOf(checkedPayment("two").claimKey), "RELEASED")
        // Who was refused is looked at first, and writes nothing.
        assert.isFalse(yield* claims.meet(checkedPayment("three")))
        assert.strictEqual(
          why(yield* Effect.exit(claims.claim(checkedPayment("three"), testCall("stream")))),
          "exposure"
        )
        assert.strictEqual(yield* stateOf(checkedPayment("three").claimKey), "absent")

        yield* claims.uncollected(yield* claims.settling(one, null), "authorization cancelled")
        assert.strictEqual(why(yield* Effect.exit(unmet("four"))), "denied")
        assert.strictEqual(yield* stateOf(checkedPayment("four").claimKey), "RELEASED")
        yield* claims.forgive(one.record)
        assert.strictEqual((yield* unmet("four")).record.moves, 1)
      })
    )
  )

  it.live("is renewed beside its holder's work without getting in its way", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        yield* claims.renew(claimed)
        yield* claims.renew(claimed)
        const serving = yield* claims.serve(claimed)
        yield* claims.renew(claimed)
        assert.strictEqual((yield* claims.settling(serving, null)).record.state, "SETTLING")
      })
    )
  )

  it.live("of a payment that was never to be had denies its payer until it is forgiven", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        const settling = yield* claims.settling(claimed, null)
        yield* claims.uncollected(settling, "authorization cancelled")
        assert.strictEqual(yield* stateOf(claimed.key), "UNCOLLECTED")

        const next = Effect.exit(claims.claim(checkedPayment("two"), testCall()))
        assert.strictEqual(why(yield* next), "denied")
        assert.strictEqual(yield* stateOf(checkedPayment("two").claimKey), "absent")
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(claims.claim(checkedPayment("x", "bob"), testCall()))))
        yield* claims.forgive(claimed.record)
        assert.isTrue(Exit.isSuccess(yield* next))
      })
    )
  )
})

describe("ten thousand who use one payment at once", () => {
  it.live("are one who has it and 9,999 who replay, over two replicas, with a thousand in flight", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = Layer.fresh(Claims.layer(options).pipe(Layer.provideMerge(busOn(server))))
      const flood = (name: string) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const exits = yield* Effect.forEach(
            Array.from({ length: 5_000 }),
            () => Effect.exit(patiently(claims.claim(checkedPayment("one"), testCall("whole", name)))),
            { concurrency: 600 }
          )
          return { exits, connection: (yield* Mailbox).instance }
        }).pipe(Effect.provide(replica))
      const before = performance.now()
      const [one, two] = yield* Effect.all([flood("gateway-1"), flood("gateway-2")], { concurrency: 2 })
      assert.notStrictEqual(one.connection, two.connection)
      const exits = [...one.exits, ...two.exits]
      yield* Effect.logInfo(`10,000 claims of one key in ${Math.round(performance.now() - before)} ms`)
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.strictEqual(exits.filter((exit) => why(exit) === "replay").length, 9_999)
    })
  )

  it.live("still let exactly one have a payment that was released", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const first = yield* claims.claim(checkedPayment("one"), testCall())
        yield* claims.release(first, "upstream failed")
        const exits = yield* Effect.forEach(
          Array.from({ length: 2_000 }),
          () => Effect.exit(patiently(claims.claim(checkedPayment("one"), testCall()))),
          { concurrency: 1_000 }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        assert.strictEqual(exits.filter((exit) => why(exit) === "replay").length, 1_999)
      })
    )
  )
})

describe("a broker that is killed", () => {
  it.live("with a thousand claims on the way leaves no payment with two holders", () =>
    withBus(
      (server) =>
        Effect.gen(function* () {
          const claims = yield* Claims
          const names = Array.from({ length: 250 }, (_, index) => `n${index}`)
          const claim = (name: string) => claims.claim(checkedPayment(name, name), testCall())
          const claimAll = (how: typeof claim) =>
            Effect.forEach(
              [...names, ...names, ...names, ...names],
              (name) => Effect.map(Effect.exit(how(name)), (exit) => ({ name, exit })),
              { concurrency: 1_000 }
            )
          const kill = Effect.promise(() => server.kill9()).pipe(
            Effect.delay(40),
            Effect.andThen(Effect.promise(() => server.start()))
          )
          const [during] = yield* Effect.all([claimAll(claim), kill], { concurrency: 2 })
          const after = yield* claimAll((name) => patiently(claim(name)))
          const won = [...during, ...after].filter(({ exit }) => Exit.isSuccess(exit))
          assert.isAbove(during.filter(({ exit }) => Exit.isFailure(exit) && why(exit) === "none").length, 0)
          assert.strictEqual(new Set(won.map(({ name }) => name)).size, won.length)
          for (const { name, exit } of won) {
            const stored = Option.getOrThrow(yield* claims.read(checkedPayment(name, name).claimKey))
            assert.strictEqual(Exit.isSuccess(exit) && exit.value.record.ticket, stored.record.ticket)
          }
          for (const name of names) {
            assert.strictEqual(yield* stateOf(checkedPayment(name, name).claimKey), "CLAIMED")
          }
        }).pipe(Effect.provide(Claims.layer(options))),
      topology
    )
  )
})

describe("a payer's exposure", () => {
  for (const exposureMax of [1, 3]) {
    it.live(`is never more than ${exposureMax} unpaid streams, however many are asked for at once`, () =>
      onBus(
        Effect.gen(function* () {
          const claims = yield* Claims
          const exits = yield* Effect.forEach(
            Array.from({ length: 200 }, (_, index) => index),
            (index) => Effect.exit(claims.claim(checkedPayment(`n${index}`), testCall("stream"))),
            { concurrency: 200 }
          )
          assert.strictEqual(exits.filter(Exit.isSuccess).length, exposureMax)
          assert.strictEqual(exits.filter((exit) => why(exit) === "exposure").length, 200 - exposureMax)

          const [one] = exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
          if (one === undefined) return assert.fail("nobody has a place")
          yield* claims.settled(yield* claims.settling(one, null), "0xaa")
          const next = yield* claims.claim(checkedPayment("next"), testCall("stream"))
          assert.strictEqual(next.record.state, "CLAIMED")
          // A refused payment was let go: it can be used once there is room.
          yield* claims.release(next, "upstream failed")
          const refused = exits.findIndex(Exit.isFailure)
          yield* claims.claim(checkedPayment(`n${refused}`), testCall("stream"))
        }),
        exposureMax
      )
    )
  }

  it.live("does not hold back whole answers, unless one is given out before it is known to be paid", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const one = yield* claims.claim(checkedPayment("one"), testCall())
        const two = yield* claims.claim(checkedPayment("two"), testCall())
        yield* claims.expose(one)
        yield* claims.expose(one)
        const second = yield* Effect.exit(claims.expose(two))
        assert.strictEqual(Option.getOrThrow(Exit.findErrorOption(second))._tag, "ExposureReached")
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("x"), testCall("stream")))), "exposure")
        yield* claims.settled(yield* claims.settling(one, null), "0xaa")
        yield* claims.expose(two)
      })
    )
  )
})

describe("the sweep", () => {
  const sweeping = (holder: string) => sweepClaims({ holder, times, everyMs: 100 })

  it.live("lets go what a killed holder had claimed, sends what it had served to be settled, and asks again", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one", "alice"), testCall("stream"))
        const served = yield* claims.serve(yield* claims.claim(checkedPayment("two", "bob"), testCall("stream")))
        const renewed = yield* claims.claim(checkedPayment("three", "carol"), testCall("stream"))
        const renewing = yield* claims.renew(renewed).pipe(Effect.delay(300), Effect.forever, Effect.forkChild)
        const sweeper = yield* Effect.forkChild(sweeping("settler-1"))

        yield* eventually(Effect.map(stateOf(claimed.key), (state) => state === "RELEASED"))
        yield* eventually(Effect.map(stateOf(served.key), (state) => state === "SETTLING"))
        const taken = yield* claims.claim(checkedPayment("one", "alice"), testCall("stream", "gateway-2"))
        yield* claims.release(taken, "done")
        yield* eventually(Effect.map(jobs, ({ messages }) => messages >= 2))
        const job = Result.getOrThrow(Option.getOrThrow((yield* jobs).first))
        assert.deepInclude(job, { claimKey: served.key, replyTo: null })
        assert.isAtLeast(Option.getOrThrow(yield* claims.read(served.key)).record.asked, 2)
        assert.strictEqual(yield* stateOf(renewed.key), "CLAIMED")
        yield* Fiber.interrupt(renewing)
        yield* Fiber.interrupt(sweeper)
      })
    )
  )

  it.live("is gone on with by another sweeper from where the oldest open claim stands", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const first = yield* Effect.forkChild(sweeping("settler-1"))
        const settling = yield* claims.settling(yield* claims.claim(checkedPayment("one"), testCall()), null)
        for (const name of ["a", "b", "c"]) {
          const other = yield* claims.settling(yield* claims.claim(checkedPayment(name), testCall()), null)
          yield* claims.settled(other, "0xaa")
        }
        yield* eventually(Effect.map(claims.read(settling.key), (found) => Option.getOrThrow(found).record.asked >= 2))
        yield* Fiber.interrupt(first)
        const askedBefore = Option.getOrThrow(yield* claims.read(settling.key)).record.asked
        const second = yield* Effect.forkChild(sweeping("settler-2"))
        yield* eventually(
          Effect.map(claims.read(settling.key), (found) => Option.getOrThrow(found).record.asked > askedBefore)
        )
        yield* Fiber.interrupt(second)
      })
    )
  )

  it.live("gives back a place that no claim stands for", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const settling = yield* claims.settling(yield* claims.claim(checkedPayment("one"), testCall("stream")), null)
        // As a settler leaves it that dies between the claim's end and the payer's record.
        const bucket = yield* (yield* Kv).open("authorizations", ClaimRecord)
        yield* bucket.update(settling.key, { ...settling.record, state: "SETTLED", payment: null }, settling.revision)
        const next = Effect.exit(claims.claim(checkedPayment("two"), testCall("stream")))
        assert.strictEqual(why(yield* next), "exposure")
        const sweeper = yield* Effect.forkChild(sweeping("settler-1"))
        yield* eventually(Effect.map(next, Exit.isSuccess))
        yield* Fiber.interrupt(sweeper)
      })
    )
  )
})

describe("the cost", () => {
  it.live("of a claim is a few round trips", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const times: Array<number> = []
        for (let index = 0; index < 600; index += 1) {
          const checked = checkedPayment(`n${index}`, `p${index}`)
          const before = performance.now()
          yield* claims.claim(checked, testCall())
          times.push(performance.now() - before)
        }
        const sorted = times.slice(100).toSorted((one, other) => one - other)
        yield* Effect.logInfo(`a claim takes p50 ${sorted[250]?.toFixed(2)} ms, p99 ${sorted[495]?.toFixed(2)} ms`)
        const text = yield* (yield* Metrics).text
        assert.match(text, /x402_claims_total\{.*outcome="claimed".*\} 600/u)
      })
    )
  )
})
