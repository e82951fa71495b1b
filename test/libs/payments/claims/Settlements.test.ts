import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable, Mailbox } from "#bus"
import { type Claim, ClaimMove, Claims, LocalSettlers } from "#payments"
import type { SettlementOutcome } from "#payments/contract"
import {
  keepRequesting,
  type LocalSettler,
  outcomeOfClaim,
  Settlements
} from "../../../../libs/payments/claims/Settlements.ts"
import { settlementOutcomeCodec } from "../../../../libs/payments/claims/ClaimStore.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { claimsInMemory } from "./claims-in-memory.ts"

const away = new BusUnavailable({ operation: "publish", detail: "the broker restarts" })
const settled = { _tag: "Settled", transaction: "0xaa" } as const
const pending = { _tag: "Pending", transaction: null } as const

interface World {
  readonly local?: LocalSettler["settle"]
  /** Between those who ask and the claims. */
  readonly between?: (claims: Claims["Service"]) => Partial<Claims["Service"]>
}

/** A gateway's settlements over claims in memory; `tell`: what a settler reports to all that wait. */
const world = ({ local, between = () => ({}) }: World = {}) => {
  const { layer, jobs, stateOf } = claimsInMemory()
  const sessions = new Map<string, (bytes: Uint8Array) => void>()
  const mailbox = Mailbox.of({
    instance: "gateway-1",
    open: (id: string, receive: (bytes: Uint8Array) => void) =>
      Effect.acquireRelease(
        Effect.sync(() => sessions.set(id, receive)),
        () => Effect.sync(() => sessions.delete(id))
      )
  } as never)
  const claims = Layer.effect(
    Claims,
    Effect.map(Claims, (claims) => ({ ...claims, ...between(claims) }))
  ).pipe(Layer.provideMerge(layer))
  const services = Settlements.layer(60_000).pipe(
    Layer.provideMerge(Layer.mergeAll(claims, Layer.succeed(Mailbox, mailbox))),
    Layer.provide(
      Layer.succeed(LocalSettlers, {
        find: () => local && { isFree: () => true, settle: local },
        enter: () => () => undefined
      })
    )
  )
  return {
    jobs,
    stateOf,
    listening: () => sessions.size,
    tell: (outcome: SettlementOutcome | "nonsense") => {
      const bytes =
        outcome === "nonsense" ? new TextEncoder().encode("nonsense") : settlementOutcomeCodec.encode(outcome).data
      for (const receive of sessions.values()) receive(bytes)
    },
    services
  }
}

const claimFor = (name: string) => Effect.flatMap(Claims, (claims) => claims.claim(checkedPayment(name), testCall()))
const request = (claim: Claim, more: { readonly mayBePending?: true } = {}) =>
  Effect.flatMap(Settlements, (settlements) => settlements.request({ claim, answerKept: Effect.void, ...more }))

describe("a settlement that a settler of the same process takes", () => {
  it.effect("is no job, and its caller hears the outcome", () => {
    const { services, jobs } = world({
      local: ({ onEnd }) => Effect.as(onEnd(settled), true)
    })
    return Effect.gen(function* () {
      const requested = yield* request(yield* claimFor("one"))
      assert.deepStrictEqual(yield* requested.outcome(10_000), settled)
      assert.deepStrictEqual(jobs, [])
    }).pipe(Effect.provide(services))
  })

  it.effect("is told to its caller when the chain has it, before the settler has written its end", () => {
    const { services } = world({
      local: ({ onSettled }) => Effect.sync(() => (onSettled("0xaa"), true))
    })
    return Effect.gen(function* () {
      const requested = yield* request(yield* claimFor("one"))
      assert.deepStrictEqual(yield* requested.outcome(10_000), settled)
    }).pipe(Effect.provide(services))
  })

  it.effect.each([
    ["is not begun", () => Effect.succeed(false)],
    ["ends without an outcome", ({ onEnd }) => Effect.as(onEnd(pending), true)]
  ] as ReadonlyArray<readonly [string, LocalSettler["settle"]]>)("goes on as a job when it %s", ([, local]) => {
    const { services, jobs } = world({ local })
    return Effect.gen(function* () {
      const claim = yield* claimFor("one")
      yield* request(claim)
      assert.deepStrictEqual(
        jobs.map(({ job, messageId }) => [job.claimKey, job.replyTo?.instance, messageId]),
        [[claim.key, "gateway-1", `${claim.record.ticket}-1`]]
      )
    }).pipe(Effect.provide(services))
  })

  it.effect("is refused, and no job, when the answer cannot be kept", () => {
    const { services, jobs } = world({ local: ({ answerKept }) => Effect.as(Effect.ignore(answerKept), true) })
    return Effect.gen(function* () {
      const claim = yield* claimFor("one")
      const settlements = yield* Settlements
      const exit = yield* Effect.exit(settlements.request({ claim, answerKept: Effect.fail(away) }))
      assert.deepStrictEqual(Option.getOrThrow(Exit.findErrorOption(exit)), away)
      assert.deepStrictEqual(jobs, [])
    }).pipe(Effect.provide(services))
  })
})

describe("a settlement by a job", () => {
  it.effect("ends with the first report that is an outcome; whoever may go on without one hears of that too", () => {
    const { services, tell, listening } = world()
    return Effect.gen(function* () {
      const claim = yield* claimFor("one")
      const strict = yield* request(claim)
      const lenient = yield* request(claim, { mayBePending: true })
      for (const report of ["nonsense", pending, settled] as const) tell(report)
      assert.deepStrictEqual([yield* strict.outcome(10_000), yield* lenient.outcome(10_000)], [settled, pending])
      assert.strictEqual(listening(), 2)
      yield* Effect.andThen(strict.close, lenient.close)
      assert.strictEqual(listening(), 0)
    }).pipe(Effect.provide(services))
  })

  it.effect("that nobody reports is committed after a second, and waited for until the time is over", () => {
    const { services, stateOf, tell } = world()
    return Effect.gen(function* () {
      const claim = yield* claimFor("one")
      const requested = yield* request(claim)
      const outcome = yield* Effect.forkChild(requested.outcome(3_000), { startImmediately: true })
      const later = yield* Effect.forkChild(requested.outcome(9_000), { startImmediately: true })
      yield* TestClock.adjust(999)
      assert.strictEqual(stateOf(claim.key), "CLAIMED")
      yield* TestClock.adjust(1)
      assert.strictEqual(stateOf(claim.key), "SETTLING")
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(yield* Fiber.join(outcome), pending)
      tell(settled)
      assert.deepStrictEqual(yield* Fiber.join(later), settled)
    }).pipe(Effect.provide(services))
  })

  it.effect("whose report is lost ends with what the claim says", () => {
    const { services } = world()
    return Effect.gen(function* () {
      const claims = yield* Claims
      const claim = yield* claimFor("one")
      const requested = yield* request(claim)
      const prepared = yield* Effect.flatMap(claims.move(claim, ClaimMove.Settle()), (settling) =>
        claims.move(settling, ClaimMove.Prepare({ transaction: "0xaa" }))
      )
      assert.deepStrictEqual(yield* requested.outcome(0), { _tag: "Pending", transaction: "0xaa" })
      yield* claims.move(prepared, ClaimMove.Settled({ transaction: "0xaa" }))
      assert.deepStrictEqual(yield* requested.outcome(0), settled)
    }).pipe(Effect.provide(services))
  })

  it.effect(
    "stands as it is when another commits the claim first, and is lost when the claim is released first",
    () => {
      let first: ClaimMove = ClaimMove.Settle()
      const { services } = world({
        between: (claims) => ({
          // Another moves the claim behind every look at it that finds it as it was.
          read: (key) =>
            Effect.tap(claims.read(key), (found) =>
              Option.isSome(found) && found.value.record.state === "CLAIMED"
                ? Effect.ignore(claims.move(found.value, first))
                : Effect.void
            )
        })
      })
      return Effect.gen(function* () {
        const settlements = yield* Settlements
        assert.deepStrictEqual(yield* settlements.outcome(yield* claimFor("one")), pending)
        first = ClaimMove.Release({ reason: "lease ended" })
        const lost = yield* Effect.flip(settlements.outcome(yield* claimFor("two")))
        assert.strictEqual(lost._tag, "ClaimLost")
      }).pipe(Effect.provide(services))
    }
  )
})

it.effect("a settlement whose payment is lost ends with why it is", () =>
  Effect.gen(function* () {
    const claim = yield* claimFor("one")
    const refused = (reason: string | null) =>
      outcomeOfClaim({ ...claim, record: { ...claim.record, state: "UNCOLLECTED", reason } })
    const answer = { _tag: "Refused", code: "PAYMENT_INVALID" }
    assert.deepStrictEqual<unknown>(refused("expired"), { ...answer, reason: "expired" })
    assert.deepStrictEqual<unknown>(refused(null), { ...answer, reason: "transaction_failed" })
  }).pipe(Effect.provide(claimsInMemory().layer))
)

describe("a settlement whose job cannot be stored", () => {
  it.effect("is committed at once, and asked for again until it is stored, for 256 calls at a time", () => {
    let isAway = true
    const { services, jobs, stateOf } = world({
      between: (claims) => ({
        requestSettlement: (claim, replyTo) => (isAway ? Effect.fail(away) : claims.requestSettlement(claim, replyTo))
      })
    })
    return Effect.gen(function* () {
      const claims = yield* Effect.forEach(Array.from({ length: 300 }).keys(), (index) =>
        Effect.flatMap(Claims, (all) => all.claim(checkedPayment("one", `payer ${index}`), testCall()))
      )
      for (const claim of claims) yield* request(claim)
      assert.isTrue(claims.every(({ key }) => stateOf(key) === "SETTLING"))
      isAway = false
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(jobs.length, 256)
      assert.strictEqual(new Set(jobs.map(({ messageId }) => messageId)).size, 256)
      assert.isTrue(jobs.every(({ job }) => job.replyTo !== null))
    }).pipe(Effect.provide(services))
  })

  it.effect("is asked for again only while nobody has begun with it", () =>
    Effect.gen(function* () {
      const claim = yield* Effect.flatMap(claimFor("one"), (claimed) =>
        Effect.flatMap(Claims, (claims) => claims.move(claimed, ClaimMove.Settle()))
      )
      const isAsked = (changed: Partial<Claim["record"]>) => {
        let asked = false
        const claims = {
          read: () => Effect.succeedSome({ ...claim, record: { ...claim.record, ...changed } }),
          requestSettlement: () => Effect.sync(() => void (asked = true))
        }
        return Effect.map(keepRequesting(claims, claim, null), () => asked)
      }
      assert.isTrue(yield* isAsked({}))
      const others: ReadonlyArray<Partial<Claim["record"]>> = [
        { ticket: "another life" },
        { state: "SETTLED" },
        { asked: 2 },
        { transactions: ["0xaa"] }
      ]
      for (const other of others) assert.isFalse(yield* isAsked(other), JSON.stringify(other))
    }).pipe(Effect.provide(claimsInMemory().layer))
  )
})
