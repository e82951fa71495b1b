import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Result } from "effect"
import { lineLogger, Metrics } from "#runtime"
import { type Claim, type ClaimRecord, Claims, type PaymentScheme } from "#payments"
import { Ledger } from "../../../services/payment-settler/ledger.ts"
import { Networks } from "../../../services/payment-settler/networks.ts"
import { Settler } from "../../../services/payment-settler/settler.ts"
import { checkedPayment, testNetwork, testRequirements } from "../../support/payments.ts"

const payment = checkedPayment("one")
const network = testNetwork.Network

const claim: Claim = {
  key: payment.claimKey,
  revision: 1,
  record: {
    state: "SETTLING",
    transactions: ["0xsent"],
    payment: { payload: payment.payload, requirements: testRequirements },
    kind: "whole",
    network,
    amount: "25685",
    asked: 1
  } as unknown as ClaimRecord
}

/** A settler whose claim is SETTLING, on a chain that answers with `look`. */
const settlerOn = (look: PaymentScheme["look"]) => {
  const scheme = {
    charging: Result.succeed,
    check: () => Result.succeed(payment),
    checkAgain: () => Result.succeed(payment),
    look
  }
  return Settler.layer.pipe(
    Layer.provide(
      Layer.succeed(
        Networks,
        new Map([[network, { entry: testNetwork, schemes: { exact: scheme }, isRemote: false }]]) as never
      )
    ),
    Layer.provide(
      Layer.succeed(Claims, {
        read: () => Effect.succeedSome(claim),
        move: () => Effect.succeed(claim),
        payer: () => Effect.succeedNone
      } as never)
    ),
    Layer.provide(Layer.succeed(Ledger, { write: () => Effect.succeed(true) } as never))
  )
}

/** The counted outcome and the log of one try. */
const tried = Effect.fnUntraced(function* (look: PaymentScheme["look"]) {
  const lines: Array<string> = []
  const text = yield* Effect.gen(function* () {
    const { settle } = yield* Settler
    yield* settle({ claimKey: claim.key, network, requestedAtMs: 0 })
    return yield* (yield* Metrics).text
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        settlerOn(look).pipe(Layer.provideMerge(Metrics.layerTest)),
        Logger.layer([lineLogger("json", (line) => void lines.push(line))])
      )
    )
  )
  const [outcome] = /^payment_settlement_tries_total\{.*outcome="(\w+)".*\} 1$/mu.exec(text)?.slice(1) ?? []
  return { outcome, log: lines.join("\n") }
})

describe("a try to settle a payment", () => {
  it.effect("is counted and logged as undecided when the chain is undecided", () =>
    Effect.gen(function* () {
      const { outcome, log } = yield* tried(() => Effect.succeed({ _tag: "Undecided", detail: "it waits for a block" }))
      assert.strictEqual(outcome, "later")
      assert.include(log, "it waits for a block")
      assert.include(log, claim.key)
    })
  )

  it.effect("is counted and logged as withheld when its time is over, and nobody has the answer", () =>
    Effect.gen(function* () {
      const { outcome, log } = yield* tried(() => Effect.succeed({ _tag: "Expired" }))
      assert.strictEqual(outcome, "withheld")
      assert.include(log, "a payment was not collected")
      assert.include(log, "its time is over")
    })
  )

  it.effect("is counted and logged as uncollected when the payer has spent the authorization elsewhere", () =>
    Effect.gen(function* () {
      const { outcome, log } = yield* tried(() => Effect.succeed({ _tag: "Spent", transaction: "0xother" }))
      assert.strictEqual(outcome, "uncollected")
      assert.include(log, "the authorization was used up without the transfer")
    })
  )

  it.effect("is counted, logged and left open when it dies", () =>
    Effect.gen(function* () {
      const { outcome, log } = yield* tried(() => Effect.die(new Error("a fault of ours")))
      assert.strictEqual(outcome, "later")
      assert.include(log, "a fault of ours")
    })
  )

  it.effect("is counted and logs nothing when the chain has the transfer", () =>
    Effect.gen(function* () {
      const { outcome, log } = yield* tried(() => Effect.succeed({ _tag: "Settled", transaction: "0xsent" }))
      assert.strictEqual(outcome, "settled")
      assert.strictEqual(log, "")
    })
  )
})

describe("a settlement that is asked for before its claim shows it", () => {
  /** What a settler writes to a claim that is in that state, asked for in the life of a ticket. */
  const written = (state: ClaimRecord["state"], ticket: string) => {
    const steps: Array<string> = []
    const found = { ...claim, record: { ...claim.record, state, ticket: "t1", transactions: [] } } as Claim
    const scheme = {
      charging: Result.succeed,
      checkAgain: () => Result.succeed(payment),
      look: () => Effect.succeed({ _tag: "Undecided", detail: "no block yet" })
    }
    const entry = { entry: testNetwork, schemes: { exact: scheme }, isRemote: true }
    const claims = {
      read: () => Effect.succeedSome(found),
      move: (from: Claim, step: { readonly _tag: string }) =>
        Effect.sync(() => {
          steps.push(step._tag)
          return { ...from, record: { ...from.record, state: "SETTLING" } }
        })
    }
    const layer = Settler.layer.pipe(
      Layer.provide(Layer.succeed(Networks, new Map([[network, entry]]) as never)),
      Layer.provide(Layer.succeed(Claims, claims as never)),
      Layer.provide(Layer.succeed(Ledger, {} as never)),
      Layer.provide(Metrics.layerTest)
    )
    return Effect.gen(function* () {
      const { settle } = yield* Settler
      const assumed = { ...found, record: { ...found.record, ticket } }
      const { _tag } = yield* settle({ claimKey: claim.key, network, requestedAtMs: 0, assumed })
      return [_tag, ...steps]
    }).pipe(Effect.provide(layer))
  }

  it.effect.each([
    ["CLAIMED", "t1", ["Undecided", "Settle"]],
    ["SERVING", "t1", ["Undecided", "Settle"]],
    ["SETTLING", "t1", ["Undecided"]],
    ["CLAIMED", "another life", ["Superseded"]],
    ["RELEASED", "t1", ["Superseded"]]
  ] as const)("commits a claim that is %s only in the life that asked, %s", ([state, ticket, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* written(state, ticket), [...expected])
    })
  )
})
