import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber } from "effect"
import {
  ChainUnavailable,
  type ChainStatus,
  type Claim,
  ClaimLost,
  type ClaimRecord,
  Claims,
  type LeaseEnd,
  PaymentRefused,
  type PaymentScheme,
  SettlementPending,
  SettlementRefused
} from "#payments"
import { moved } from "../../../libs/payments/claims/claim.ts"
import { Ledger } from "../../../services/payment-settler/ledger.ts"
import { endUncharged, signAndSend, type Work } from "../../../services/payment-settler/settling.ts"
import type { SignerPool } from "../../../services/payment-settler/signer-pool.ts"
import { checkedPayment, testRequirements } from "../../support/payments.ts"
import { failingAtEach, isAfter, type Recorder, recorder, told } from "../../support/recorder.ts"

const payment = checkedPayment("one")
const transaction = "0xsigned"
const noChain = new ChainUnavailable({ operation: "ask the chain", detail: "no node answers" })
const noFunds = { code: "PAYMENT_UNFUNDED", reason: "insufficient_funds", payer: payment.payer } as const
const unfunded = new PaymentRefused(noFunds)

const settling: Claim = {
  key: payment.claimKey,
  revision: 1,
  record: {
    state: "SETTLING",
    moves: 1,
    transactions: [] as ReadonlyArray<string>,
    payment: { payload: payment.payload, requirements: testRequirements },
    kind: "whole",
    ticket: "a ticket"
  } as ClaimRecord
}

/** A chain that takes every payment. */
const chain = {
  recheck: () => Effect.void,
  prepare: () => Effect.succeed({ transaction, raw: new Uint8Array(0) }),
  broadcast: () => Effect.succeed({ transaction }),
  look: () => Effect.succeed<ChainStatus>({ _tag: "Unused" })
} satisfies Partial<PaymentScheme>

interface Parts {
  readonly scheme?: Partial<PaymentScheme>
  readonly kind?: ClaimRecord["kind"]
  readonly move?: Claims["Service"]["move"]
}

/** A settler's surroundings, which all write down what is asked of them; `ends`: how each lease of a key was ended. */
const surroundings = ({ call, note }: Recorder, { scheme = {}, kind = "whole", move }: Parts = {}) => {
  const ends: Array<LeaseEnd> = []
  let taken = 0
  let claim: Claim = { ...settling, record: { ...settling.record, kind } }
  const pool = {
    take: () =>
      Effect.map(note("take a key"), () => {
        taken += 1
        return {
          lease: {},
          end: (how: LeaseEnd) =>
            Effect.andThen(
              note(`end ${how}`),
              Effect.sync(() => ends.push(how))
            )
        }
      })
  } as unknown as SignerPool
  const claims = Claims.of({
    move: (from: Claim, step: Parameters<Claims["Service"]["move"]>[1]) =>
      call(
        `move ${step._tag}`,
        Effect.suspend(() => {
          if (move !== undefined) return move(from, step)
          const record = moved(claim.record, step, 0)
          if (record === undefined) return Effect.die(`a claim that is ${claim.record.state} was to ${step._tag}`)
          claim = { ...claim, revision: claim.revision + 1, record }
          return Effect.succeed(claim)
        })
      ),
    payer: () => Effect.succeedNone
  } as never)
  const ledger = Ledger.of({ write: () => call("write the receipt", Effect.succeed(true)) } as never)
  const chainCall = <A, E>(name: string, work: Effect.Effect<A, E>) =>
    Effect.catchTag(call(name, work), "BusUnavailable", () => Effect.fail(noChain)) as Effect.Effect<A, E>
  const parts = { ...chain, ...scheme } as PaymentScheme
  const work: Work = {
    claim,
    payment,
    scheme: {
      ...parts,
      recheck: (checked) => chainCall("recheck", parts.recheck(checked)),
      prepare: (checked, lease) => chainCall("prepare", parts.prepare(checked, lease)),
      broadcast: (prepared, checked) => chainCall("broadcast", parts.broadcast(prepared, checked)),
      look: (checked, sent) => chainCall("look", parts.look(checked, sent))
    },
    pool,
    isRemote: false,
    transaction: null,
    onSettled: () => note("tell the caller"),
    answerKept: call("keep the answer", Effect.void)
  }
  const services = Context.make(Claims, claims).pipe(Context.add(Ledger, ledger))
  return { services, work, ends, taken: () => taken, state: () => claim.record.state }
}

describe("a payment that is settled", () => {
  it.effect("is written down before it is sent, and its claim ends after its receipt", () =>
    Effect.gen(function* () {
      const record = recorder()
      const { services, work } = surroundings(record)
      assert.deepInclude(yield* Effect.provideContext(signAndSend(work), services), { _tag: "Ended", how: "settled" })
      assert.deepStrictEqual(record.calls, [
        "recheck",
        "keep the answer",
        "take a key",
        "prepare",
        "move Prepare",
        "broadcast",
        "end used",
        "tell the caller",
        "write the receipt",
        "move Settled"
      ])
    })
  )

  it.effect("leaves nothing in a wrong order, whichever of its calls fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          const { services, work, ends, taken, state } = surroundings(record)
          yield* Effect.exit(Effect.provideContext(signAndSend(work), services))
          return { ends, taken: taken(), state: state() }
        })
      )
      for (const run of runs) {
        assert.isTrue(isAfter(run, "take a key", "keep the answer"), told(run))
        assert.isTrue(isAfter(run, "broadcast", "move Prepare"), told(run))
        assert.isTrue(isAfter(run, "broadcast", "recheck"), told(run))
        assert.isTrue(isAfter(run, "move Settled", "write the receipt"), told(run))
        assert.isTrue(Exit.isSuccess(run.exit))
        if (Exit.isFailure(run.exit)) continue
        const { ends, taken, state } = run.exit.value
        assert.strictEqual(ends.length, taken, `a key's lease is ended once; ${told(run)}`)
        if (state === "SETTLED") assert.include(run.done, "write the receipt", told(run))
      }
      assert.isAbove(runs.length, 12)
    })
  )

  it.effect("without a charge ends after its answer is kept, and after its receipt", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach((record) => {
        const { services, work } = surroundings(record)
        return Effect.provideContext(endUncharged(work), services)
      })
      assert.deepStrictEqual(runs[0]?.calls, [
        "keep the answer",
        "move Prepare",
        "tell the caller",
        "write the receipt",
        "move Settled"
      ])
      for (const run of runs) {
        for (const step of ["move Prepare", "write the receipt", "move Settled"])
          assert.isTrue(isAfter(run, step, "keep the answer"), told(run))
        assert.isTrue(isAfter(run, "move Settled", "write the receipt"), told(run))
        // A failure of the answer's keeping, or of a write, leaves the payment to the next settler.
        assert.strictEqual(Exit.isFailure(run.exit), run.failedAt !== undefined, told(run))
      }
    })
  )
})

describe("a payment that the chain would refuse now", () => {
  it.effect("stays open where its answer was streamed, and is withheld where nothing was given out", () =>
    Effect.gen(function* () {
      for (const kind of ["stream", "whole"] as const) {
        const record = recorder()
        const { services, work } = surroundings(record, {
          scheme: { recheck: () => Effect.fail(unfunded) },
          kind
        })
        const end = yield* Effect.provideContext(signAndSend(work), services)
        assert.strictEqual(end._tag, kind === "stream" ? "Undecided" : "Ended")
        assert.strictEqual(record.calls.includes("move Withheld"), kind === "whole")
      }
    })
  )

  type Row = readonly [
    kind: ClaimRecord["kind"],
    seen: ChainStatus,
    how: "settled" | "uncollected" | "withheld",
    last: ReadonlyArray<string>
  ]
  const elsewhere: ChainStatus = { _tag: "Settled", transaction: "0xby-another" }
  const rows: ReadonlyArray<Row> = [
    ["whole", elsewhere, "settled", ["tell the caller", "write the receipt", "move Settled"]],
    ["whole", { _tag: "Spent", transaction: null }, "uncollected", ["write the receipt", "move Uncollected"]],
    ["stream", { _tag: "Expired" }, "uncollected", ["write the receipt", "move Uncollected"]],
    ["whole", { _tag: "Expired" }, "withheld", ["write the receipt", "move Withheld"]]
  ]
  for (const [kind, seen, how, last] of rows) {
    it.effect(`ends as ${how} where the chain shows it as ${seen._tag} and its answer is a ${kind} one`, () =>
      Effect.gen(function* () {
        const record = recorder()
        const scheme = { recheck: () => Effect.fail(unfunded), look: () => Effect.succeed(seen) }
        const { services, work } = surroundings(record, { scheme, kind })
        const end = yield* Effect.provideContext(signAndSend(work), services)
        const refused = { _tag: "Refused", code: "PAYMENT_INVALID", reason: noFunds.reason }
        assert.deepStrictEqual<unknown>(end, { _tag: "Ended", how, outcome: how === "settled" ? seen : refused })
        assert.deepStrictEqual(record.calls.slice(record.calls.indexOf("look")), ["look", ...last])
      })
    )
  }
})

it.effect("the caller of a settled payment continues before its receipt is written", () =>
  Effect.gen(function* () {
    const record = recorder()
    const { services, work } = surroundings(record)
    const isSettled = yield* Deferred.make<void>()
    yield* Effect.forkChild(Effect.andThen(Deferred.await(isSettled), record.note("the caller goes on")), {
      startImmediately: true
    })
    const onSettled = () => Effect.asVoid(Deferred.succeed(isSettled, undefined))
    yield* Effect.provideContext(signAndSend({ ...work, onSettled }), services)
    assert.isBelow(record.calls.indexOf("the caller goes on"), record.calls.indexOf("write the receipt"))
  })
)

describe("the lease of a settler's key is ended once", () => {
  const lost = new ClaimLost({ claimKey: settling.key, move: "Prepare", state: "SETTLED" })
  const refusedWith = (sent: string | null) => new SettlementRefused({ ...noFunds, transaction: sent })
  const pending = new SettlementPending({ transaction, detail: "no block yet" })

  const rows: ReadonlyArray<readonly [how: string, when: string, parts: Parts]> = [
    ["used", "when the chain has made the transfer", {}],
    ["unsent", "when the payment cannot be signed", { scheme: { prepare: () => Effect.fail(noChain) } }],
    ["unsent", "when another settler has written first", { move: () => Effect.fail(lost) }],
    ["unsent", "when the chain would refuse the transfer now", { scheme: { recheck: () => Effect.fail(unfunded) } }],
    ["unsent", "when the chain cannot be asked once more", { scheme: { recheck: () => Effect.fail(noChain) } }],
    ["unsent", "when nothing could be sent", { scheme: { broadcast: () => Effect.fail(noChain) } }],
    ["unsent", "when it is refused before it is sent", { scheme: { broadcast: () => Effect.fail(refusedWith(null)) } }],
    ["used", "when a block holds its refusal", { scheme: { broadcast: () => Effect.fail(refusedWith(transaction)) } }],
    // Its nonce must not be given out again: the transaction may still come into a block.
    ["unknown", "while it waits for a block", { scheme: { broadcast: () => Effect.fail(pending) } }]
  ]
  for (const [how, when, parts] of rows) {
    it.effect(`as ${how} ${when}`, () =>
      Effect.gen(function* () {
        const { services, work, ends } = surroundings(recorder(), parts)
        yield* Effect.exit(Effect.provideContext(signAndSend(work), services))
        assert.deepStrictEqual(ends, [how])
      })
    )
  }

  const brokenOff: ReadonlyArray<readonly [how: string, during: string, scheme: Partial<PaymentScheme>]> = [
    ["unsent", "it is signed", { prepare: () => Effect.never }],
    ["unsent", "the chain is asked once more", { recheck: () => Effect.never }],
    ["unknown", "it is sent", { broadcast: () => Effect.never }]
  ]
  for (const [how, during, scheme] of brokenOff) {
    it.effect(`as ${how} when settling is broken off while ${during}`, () =>
      Effect.gen(function* () {
        const { services, work, ends } = surroundings(recorder(), { scheme })
        const fiber = yield* Effect.forkChild(Effect.provideContext(signAndSend(work), services), {
          startImmediately: true
        })
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(ends, [how])
      })
    )
  }
})

describe("the transaction that deploys a payer's wallet", () => {
  const cannotSend = new SettlementPending({ transaction, detail: "no block yet" })
  const prerequisiteOf = (given: Partial<NonNullable<PaymentScheme["prerequisite"]>>) => ({
    prerequisite: {
      isNeeded: () => Effect.succeed(true),
      prepare: () => Effect.succeed({ transaction, raw: new Uint8Array(0) }),
      broadcast: () => Effect.void,
      ...given
    }
  })

  const rows: ReadonlyArray<readonly [ends: ReadonlyArray<string>, when: string, scheme: Partial<PaymentScheme>]> = [
    [["used", "used"], "when it is in a block", prerequisiteOf({})],
    [["unsent"], "when it cannot be signed", prerequisiteOf({ prepare: () => Effect.fail(noChain) })],
    [["unsent"], "when it cannot be sent", prerequisiteOf({ broadcast: () => Effect.fail(noChain) })],
    [["unknown"], "while it waits for a block", prerequisiteOf({ broadcast: () => Effect.fail(cannotSend) })],
    [["used"], "when none is needed", prerequisiteOf({ isNeeded: () => Effect.succeed(false) })]
  ]
  for (const [expected, when, scheme] of rows) {
    it.effect(`leaves the leases ended as ${expected.join(" and ")} ${when}`, () =>
      Effect.gen(function* () {
        const { services, work, ends } = surroundings(recorder(), { scheme })
        yield* Effect.exit(Effect.provideContext(signAndSend(work), services))
        assert.deepStrictEqual(ends, expected)
      })
    )
  }
})
