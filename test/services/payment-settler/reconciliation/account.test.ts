import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Leases, Mailbox } from "#bus"
import { type BookFinding, type BookState, type Receipt } from "#payments/contract"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { ChainUnavailable, type ChainTransfer, type Claim, Claims, receiptCodec } from "#payments"
import { subjects } from "#base"
import { Ledger } from "../../../../services/payment-settler/ledger.ts"
import { Networks } from "../../../../services/payment-settler/networks.ts"
import { bookFinding, Books } from "../../../../services/payment-settler/reconciliation/Books.ts"
import { reconciler } from "../../../../services/payment-settler/reconciliation/reconciler.ts"
import { Settler } from "../../../../services/payment-settler/settler.ts"
import type { Settling } from "../../../../services/payment-settler/settling.ts"
import { memoryStream } from "../../../support/memory-stream.ts"
import { receiptOf } from "../../../support/money.ts"
import { checkedPayment, testNetwork } from "../../../support/payments.ts"
import { recordedKv, recorder } from "../../../support/recorder.ts"
import { record } from "../../../libs/payments/claims/moves.ts"

const network = testNetwork.Network
const nodeUrl = "https://node.example/secret-key"
const away = new ChainUnavailable({ operation: "read transfers", detail: `${nodeUrl} does not answer` })

const transferOf = ({ transaction, payer, amount }: Receipt): ChainTransfer => ({
  transaction: transaction ?? "",
  network,
  asset: testNetwork.Asset,
  payer,
  payTo: testNetwork.PayTo,
  amount: BigInt(amount),
  nonce: null,
  position: "1:0"
})
const gift = transferOf(receiptOf("a gift"))

const claimOf = (name: string, changes: Partial<Claim["record"]>): Claim => {
  const { claimKey: key, payer } = checkedPayment(name)
  return { key, revision: 1, record: { ...record("SETTLING"), payer, ticket: name, requestedAtMs: 0, ...changes } }
}

const transferTo = ({ record }: Claim, transaction: string): ChainTransfer => ({
  ...gift,
  transaction,
  payer: record.payer,
  amount: BigInt(record.amount)
})

/** One account's surroundings, which a test changes between two readings. */
const world = () => {
  const record = recorder()
  const ledger = memoryStream(record)
  const kv = recordedKv(record)
  const now = {
    claims: [] as ReadonlyArray<Claim>,
    /** Those that a reading finds; each is read once. */
    transfers: [] as ReadonlyArray<ChainTransfer>,
    isAway: false,
    /** What happens while the transfers are read. */
    meanwhile: () => undefined as void,
    settling: { _tag: "Undecided", detail: "no block yet" } as unknown as Settling
  }
  const settled: Array<string> = []
  const chain = {
    transfers: () =>
      Stream.suspend((): Stream.Stream<ChainTransfer, ChainUnavailable> => {
        const all = now.transfers
        now.transfers = []
        now.meanwhile()
        return now.isAway ? Stream.fail(away) : Stream.fromIterable(all)
      }),
    feeBalance: (address: string) => (address === "0xk1" ? Effect.succeed(5n) : Effect.fail(away))
  }
  const entry = { entry: testNetwork, chain, isRemote: false, addresses: ["0xk1", "0xk2"] }
  const services = Layer.mergeAll(
    Layer.succeed(Networks, new Map([[network, entry]]) as never),
    Layer.succeed(Claims, {
      all: Stream.suspend(() => Stream.fromIterable(now.claims)),
      read: (key: string) =>
        Effect.sync(() => {
          const found = now.claims.find((claim) => claim.key === key)
          return { _tag: found === undefined ? "None" : "Some", value: found }
        })
    } as never),
    Layer.succeed(Settler, {
      settle: ({ claimKey }: { readonly claimKey: string }) =>
        Effect.sync(() => {
          settled.push(claimKey)
          return now.settling
        })
    } as never),
    Layer.succeed(Leases, { whileHeld: (_lease: unknown, work: Effect.Effect<never>) => work } as never),
    Layer.succeed(Mailbox, { instance: "settler-1" } as never),
    kv.layer,
    Configuration.layerOf({ PaymentSettler: { ReconcileSeconds: 60, BooksGraceSeconds: 0 } })
  )
  const layer = reconciler.pipe(
    Layer.provideMerge(Layer.provideMerge(Books.layer, services)),
    Layer.provideMerge(Ledger.layer.pipe(Layer.provide(ledger.layer))),
    Layer.provideMerge(Metrics.layerTest)
  )
  const stored = () => [...(kv.entries.get("payment-books")?.values() ?? [])].map(({ value }) => value as object)
  return {
    layer,
    now,
    settled,
    put: (receipt: Receipt) =>
      ledger.store(subjects.receipts(network, "payer"), receiptCodec.encode(receipt).data).sequence,
    receipts: () => ledger.messages.map((message) => JSON.parse(new TextDecoder().decode(message.data)) as Receipt),
    findings: () => stored().filter((one): one is BookFinding => "kind" in one),
    state: () => stored().find((one): one is BookState => "triedAtMs" in one)
  }
}

const nextReading = TestClock.adjust("1 minute")
const found = Effect.map(
  Effect.flatMap(Metrics, ({ text }) => text),
  (text) =>
    [...text.matchAll(/^payment_book_findings_total\{.*?finding="(\w+)".*\} ([1-9]\d*)$/gmu)].map(
      ([, kind, count]) => `${kind} ${count}`
    )
)

describe("a finding of the reconciliation", () => {
  it.effect("stands in the books until its other half is found, and is counted once", () => {
    const { layer, now, put, findings } = world()
    now.transfers = [gift]
    return Effect.gen(function* () {
      yield* nextReading
      yield* nextReading
      assert.deepStrictEqual(
        findings().map(({ kind, end }) => [kind, end]),
        [["TransferWithoutReceipt", null]]
      )
      put(receiptOf("a gift"))
      yield* nextReading
      assert.deepStrictEqual(
        findings().map(({ end }) => end?.how),
        ["resolved"]
      )
      assert.deepStrictEqual(yield* found, ["TransferWithoutReceipt 1"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not made of a transfer whose receipt is written while the transfers are read", () => {
    const { layer, now, put, findings } = world()
    now.transfers = [gift]
    now.meanwhile = () => {
      now.meanwhile = () => undefined
      put(receiptOf("a gift"))
    }
    return Effect.gen(function* () {
      yield* nextReading
      assert.deepStrictEqual(findings(), [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("that an operator has accepted is not reported again; one that was over is", () => {
    return Effect.forEach(["accepted", "resolved"] as const, (how) => {
      const { layer, now, findings } = world()
      const transfer = { _tag: "TransferWithoutReceipt", transfer: gift, claimKey: null } as const
      const end = { how, atMs: 0, by: null, reason: null }
      now.transfers = [gift]
      return Effect.gen(function* () {
        const books = yield* Books
        yield* books.keep({ ...bookFinding(testNetwork, transfer, 0), end }, 0)
        yield* nextReading
        assert.deepStrictEqual(
          findings().map((finding) => finding.end?.how),
          [how === "accepted" ? "accepted" : undefined]
        )
        assert.deepStrictEqual(yield* found, how === "accepted" ? [] : ["TransferWithoutReceipt 1"])
      }).pipe(Effect.provide(layer))
    })
  })

  it.effect("about a claim that ended without a receipt writes that receipt", () => {
    const { layer, now, receipts, findings } = world()
    const far = Number.MAX_SAFE_INTEGER
    const paid = claimOf("paid", { state: "SETTLED", transactions: ["0xaa", "0xbb"] })
    now.claims = [
      paid,
      claimOf("unpaid", { state: "UNCOLLECTED", reason: "expired", transactions: [] }),
      claimOf("in work", { state: "SETTLING", validBeforeMs: far }),
      claimOf("of another network", { state: "SETTLED", network: "eip155:1" })
    ]
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        receipts().map(({ outcome, transaction, reason }) => [outcome, transaction, reason]),
        [
          ["settled", "0xbb", null],
          ["uncollected", null, "expired"]
        ]
      )
      assert.deepStrictEqual(
        findings().map(({ kind, end }) => [kind, end?.how]),
        [
          ["ClaimWithoutReceipt", "receipt-written"],
          ["ClaimWithoutReceipt", "receipt-written"]
        ]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("about a transfer is over once the receipt of its claim is written; one without a claim stands", () => {
    const { layer, now, receipts, findings } = world()
    const claim = claimOf("paid", { state: "SETTLED", transactions: ["0xaa"] })
    now.claims = [claim]
    now.transfers = [transferTo(claim, "0xaa"), gift]
    return Effect.gen(function* () {
      yield* nextReading
      yield* nextReading
      assert.deepStrictEqual(
        receipts().map(({ claimKey }) => claimKey),
        [claim.key]
      )
      assert.deepStrictEqual(
        findings().map(({ kind, claimKeys, end }) => [kind, claimKeys.length, end?.how]),
        [
          ["TransferWithoutReceipt", 1, "resolved"],
          ["TransferWithoutReceipt", 0, undefined],
          ["ClaimWithoutReceipt", 1, "receipt-written"]
        ]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("about an overdue settlement has it settled, and stands while its end is not known", () => {
    const { layer, now, settled, findings } = world()
    const claim = claimOf("late", { validBeforeMs: 0 })
    now.claims = [claim]
    return Effect.gen(function* () {
      yield* nextReading
      assert.deepStrictEqual(settled, [claim.key])
      assert.deepStrictEqual(
        findings().map(({ kind, end }) => [kind, end]),
        [["SettlingOverdue", null]]
      )
    }).pipe(Effect.provide(layer))
  })

  it.effect("about an overdue settlement is over once that has ended", () => {
    const { layer, now, findings } = world()
    now.claims = [claimOf("late", { validBeforeMs: 0 })]
    now.settling = { _tag: "Ended", how: "withheld" } as unknown as Settling
    return Effect.gen(function* () {
      yield* nextReading
      assert.deepStrictEqual(
        findings().map(({ end }) => end?.how),
        ["withheld"]
      )
    }).pipe(Effect.provide(layer))
  })
})

describe("the state of an account's books", () => {
  it.effect("says when they were compared, what keeps them from it without any address, and what the keys hold", () => {
    const { layer, now, state } = world()
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      const first = state()
      assert.deepInclude(first, {
        network,
        payTo: testNetwork.PayTo,
        holder: "settler-1",
        comparedAtMs: 0,
        trouble: null,
        notKept: 0
      })
      assert.deepStrictEqual(first?.keys, [
        { address: "0xk1", balance: "5" },
        { address: "0xk2", balance: null }
      ])
      now.isAway = true
      yield* nextReading
      const second = state()
      assert.deepInclude(second, { triedAtMs: 60_000, comparedAtMs: 0 })
      assert.include(second?.trouble, "<address> does not answer")
      assert.notInclude(second?.trouble, "secret-key")
      now.isAway = false
      yield* nextReading
      assert.deepInclude(state(), { triedAtMs: 120_000, comparedAtMs: 120_000, trouble: null })
    }).pipe(Effect.provide(layer))
  })

  it.effect("sums up what was transferred and what was receipted, of this account alone", () => {
    const { layer, now, put } = world()
    now.transfers = [gift, { ...gift, transaction: "0xother", amount: 5n }]
    put(receiptOf("a gift"))
    put(receiptOf("two", { outcome: "uncollected", transaction: null }))
    put(receiptOf("three", { outcome: "refunded", refund: "r" }))
    put(receiptOf("four", { network: "eip155:1" }))
    put(receiptOf("five", { payTo: `0x${"1".repeat(40)}` }))
    return Effect.gen(function* () {
      yield* nextReading
      const text = yield* (yield* Metrics).text
      const sum = (name: string) => Number(RegExp(`^${name}\\{.*\\} (\\d+)$`, "mu").exec(text)?.[1])
      assert.strictEqual(sum("payment_books_transferred_units_total"), 1_005)
      assert.strictEqual(sum("payment_books_receipted_units_total"), 1_000)
    }).pipe(Effect.provide(layer))
  })
})
