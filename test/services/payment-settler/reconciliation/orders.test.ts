import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { BusUnavailable, Requests } from "#bus"
import type { BookFinding, BooksAnswer, BooksOrder } from "#payments/contract"
import { type Claim, Claims } from "#payments"
import { Ledger } from "../../../../services/payment-settler/ledger.ts"
import { bookFinding, Books } from "../../../../services/payment-settler/reconciliation/Books.ts"
import type { Finding } from "../../../../services/payment-settler/reconciliation/findings.ts"
import { bookOrders } from "../../../../services/payment-settler/reconciliation/orders.ts"
import { Settler } from "../../../../services/payment-settler/settler.ts"
import type { Settling } from "../../../../services/payment-settler/settling.ts"
import { receiptOf } from "../../../support/money.ts"
import { checkedPayment, testNetwork } from "../../../support/payments.ts"
import { recordedKv, recorder } from "../../../support/recorder.ts"
import { record } from "../../../libs/payments/claims/moves.ts"

const { claimKey: key } = checkedPayment("one")
const transfer = {
  transaction: "0xaa",
  network: testNetwork.Network,
  asset: testNetwork.Asset,
  payer: "0xp",
  payTo: testNetwork.PayTo,
  amount: 7n,
  nonce: null,
  position: "1:0"
}
const reconciled = {
  key,
  state: "SETTLING",
  network: testNetwork.Network,
  payer: "0xp",
  transactions: [],
  validBeforeMs: 0,
  requestedAtMs: 0
} as const
const findings = {
  overdue: { _tag: "SettlingOverdue", claim: reconciled },
  unreceipted: { _tag: "ClaimWithoutReceipt", claim: reconciled },
  gift: { _tag: "TransferWithoutReceipt", transfer, claimKey: null },
  paid: { _tag: "UncollectedButPaid", transfer, claimKey: key },
  late: { _tag: "ReceiptWithoutTransfer", receipt: receiptOf("one") }
} as const satisfies Readonly<Record<string, Finding>>

interface Given {
  readonly finding: Finding
  readonly claim?: Claim["record"]
  readonly settling?: Partial<Settling>
  readonly isAway?: boolean
}

/** A settler with one finding in its books; `done`: what it did for an order. */
const world = Effect.fnUntraced(function* ({ finding, claim, settling, isAway = false }: Given) {
  const done: Array<string> = []
  let handler: (order: BooksOrder) => Effect.Effect<BooksAnswer> = () => Effect.die("nothing is answered")
  const note = <A>(what: string, answer: A) => Effect.sync(() => (done.push(what), answer))
  const found = claim && { key, revision: 1, record: claim }
  const services = Layer.mergeAll(
    Layer.succeed(Claims, {
      read: () =>
        isAway
          ? Effect.fail(new BusUnavailable({ operation: "read", detail: "no answer in time" }))
          : Effect.succeed(Option.fromUndefinedOr(found)),
      pardon: (_: unknown, claimKey: string) => note(`pardon ${claimKey}`, undefined)
    } as never),
    Layer.succeed(Ledger, { write: () => note("write the receipt", true) } as never),
    Layer.succeed(Settler, { settle: () => note("settle", settling) } as never),
    Layer.succeed(Requests, {
      answer: (given: { readonly handler: typeof handler }) =>
        Effect.contextWith((context) =>
          Effect.sync(() => void (handler = (order) => Effect.provideContext(given.handler(order), context)))
        )
    } as never)
  )
  const books = Context.get(yield* Layer.build(Layer.provide(Books.layer, recordedKv(recorder()).layer)), Books)
  const kept = bookFinding(testNetwork, finding, 0)
  yield* books.keep(kept, 0)
  yield* Layer.build(Layer.provide(bookOrders, Layer.merge(services, Layer.succeed(Books, books))))
  const order = (what: "Mend" | "Accept", id = kept.id) =>
    Effect.suspend(() => handler({ _tag: what, id, by: "token", reason: "a test" } as BooksOrder))
  const end = Effect.map(books.find(kept.id), (one) => Option.getOrUndefined(one)?.value.end)
  return { order, done, end }
})

const howOf = (answer: BooksAnswer) => (answer._tag === "Done" ? (answer.finding as BookFinding).end?.how : answer._tag)

describe("an order about a finding", () => {
  it.effect("to accept it ends it, with who ordered it and why, once", () =>
    Effect.gen(function* () {
      const { order, done, end } = yield* world({ finding: findings.gift })
      assert.strictEqual(howOf(yield* order("Accept")), "accepted")
      assert.deepInclude(yield* end, { how: "accepted", by: "token", reason: "a test" })
      assert.strictEqual(howOf(yield* order("Mend")), "accepted", "it has ended")
      assert.deepStrictEqual(done, [])
      assert.strictEqual(howOf(yield* order("Accept", "0".repeat(32))), "Unknown")
    }).pipe(Effect.scoped)
  )

  const settledClaim = { ...record("SETTLED"), transactions: ["0xaa"] }
  const rows: ReadonlyArray<readonly [what: string, given: Given, how: string, done: ReadonlyArray<string>]> = [
    [
      "has an overdue settlement ended",
      { finding: findings.overdue, claim: record("SETTLING"), settling: { _tag: "Ended", how: "settled" } },
      "settled",
      ["settle"]
    ],
    [
      "leaves one whose end is not known",
      { finding: findings.overdue, claim: record("SETTLING"), settling: { _tag: "Undecided", detail: "no block" } },
      "Later",
      ["settle"]
    ],
    [
      "ends one that another has settled",
      { finding: findings.overdue, claim: record("SETTLING"), settling: { _tag: "Superseded" } },
      "resolved",
      ["settle"]
    ],
    ["ends one whose claim is gone", { finding: findings.overdue }, "resolved", []],
    ["serves a payer again that paid after all", { finding: findings.paid }, "payer-served", [`pardon ${key}`]],
    [
      "writes a missing receipt",
      { finding: findings.unreceipted, claim: settledClaim },
      "receipt-written",
      ["write the receipt"]
    ],
    ["writes none for a claim in work", { finding: findings.unreceipted, claim: record("SETTLING") }, "Refused", []],
    ["does nothing about a transfer without a claim", { finding: findings.gift }, "Refused", []],
    ["does nothing about a receipt without a transfer", { finding: findings.late }, "Refused", []],
    ["waits while the broker is away", { finding: findings.overdue, isAway: true }, "Later", []]
  ]
  it.effect.each(rows)("to mend it %s", ([, given, how, did]) =>
    Effect.gen(function* () {
      const { order, done, end } = yield* world(given)
      assert.strictEqual(howOf(yield* order("Mend")), how)
      assert.deepStrictEqual(done, [...did])
      assert.strictEqual(
        yield* Effect.map(end, (one) => one?.how),
        how === "Later" || how === "Refused" ? undefined : how
      )
    }).pipe(Effect.scoped)
  )
})
