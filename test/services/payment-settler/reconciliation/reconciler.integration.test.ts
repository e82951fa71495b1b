import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { StreamReader } from "#bus"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { ask, chat } from "../../../support/gateway.ts"
import { quoteOf, signPayment } from "../../../support/payment-client.ts"
import { busOf } from "../../../../dev/fixtures/payment-bus.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"
import { payTo } from "../../../../dev/fixtures/payment-accounts.ts"
import { Books } from "../../../../services/payment-settler/reconciliation/Books.ts"
import { cancelCall } from "../../../../dev/fixtures/evm/token-calls.ts"
import { cancellation } from "../../../../dev/fixtures/evm/payments.ts"

const path = "/api/v1/chat/completions"
const headers = { "content-type": "application/json" }

const sign = (fleet: PaymentFleet, body: unknown, key = fleet.chain.payer.privateKey, nonce?: `0x${string}`) =>
  Effect.promise(async () => {
    const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    const [offer] = quoteOf(unpaid).accepts
    if (offer === undefined) throw new Error("no quote")
    return signPayment(key, offer, nonce === undefined ? {} : { nonce })
  })

const pay = (fleet: PaymentFleet, body: unknown, payment: string) =>
  ask(fleet, path, body, { "payment-signature": payment })

/** As a wallet sends it, by an account that the node signs for. */
const send = (fleet: PaymentFleet, from: string, data: string) =>
  Effect.gen(function* () {
    yield* fleet.chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"])
    yield* fleet.chain.rpc("anvil_impersonateAccount", [from])
    yield* fleet.chain.rpc("eth_sendTransaction", [{ from, to: fleet.chain.asset, data }])
    yield* fleet.chain.rpc("evm_mine", [])
  }).pipe(Effect.orDie)

/** Whether a finding of that kind is counted; every kind begins at 0. */
const isCounted = (text: string, finding: string) =>
  new RegExp(`^payment_book_findings_total\\{.*finding="${finding}".*\\} [1-9]`, "mu").test(text)

const finds = (fleet: PaymentFleet, finding: string) =>
  eventually(fleet.metrics, { is: (text) => isCounted(text, finding) })

describe("the reconciliation", () => {
  it.live("reports an unrequested transfer, and finds nothing else", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello")
          assert.strictEqual((yield* pay(fleet, body, yield* sign(fleet, body))).status, 200)
          const word = (value: string) => value.replace(/^0x/u, "").toLowerCase().padStart(64, "0")
          const gift = `0xa9059cbb${word(payTo)}${word("0x7b")}`
          yield* send(fleet, fleet.chain.payer.address, gift)
          yield* finds(fleet, "TransferWithoutReceipt")
          assert.isFalse(isCounted(yield* fleet.metrics, "ReceiptWithoutTransfer"))
        }),
      { chain: { blockTimeMs: 100 }, settler: { BooksGraceSeconds: 2 } }
    )
  )

  it.live("writes a missing receipt again", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        assert.strictEqual((yield* pay(fleet, body, yield* sign(fleet, body))).status, 200)
        yield* eventually(fleet.receipts, { is: (all) => all.length === 1 })
        const [before] = yield* fleet.receipts
        const bus = yield* busOf(fleet.server)
        yield* Effect.gen(function* () {
          const reader = yield* StreamReader
          yield* reader.remove("RECEIPTS", 1)
        }).pipe(Effect.provideContext(bus))
        yield* eventually(fleet.receipts, { is: (all) => all.length === 1 })
        const [after] = yield* fleet.receipts
        assert.strictEqual(after?.transaction, before?.transaction)
        assert.strictEqual(after?.claimKey, before?.claimKey)
        assert.deepStrictEqual([before?.model, after?.model], [body.model, body.model])
        yield* balanced(fleet)
        const books = yield* Effect.provideContext(Effect.provide(Books, Books.layer), bus)
        const receiver = { Network: fleet.chain.network, PayTo: payTo }
        yield* eventually(books.all(receiver), { is: (kept) => kept.length === 1 })
        const [kept] = yield* books.all(receiver)
        assert.include(kept?.value, { kind: "ClaimWithoutReceipt" })
        assert.include(kept?.value.end, { how: "receipt-written", by: null })
      })
    )
  )
})

describe("a payer who cancels the payment of a running stream", () => {
  it.live("is served no more", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const key = `0x${"44".repeat(32)}` as const
        const account = privateKeyToAccount(key)
        yield* fleet.chain.fund(account.address, 1_000_000n)
        const nonce = `0x${"ab".repeat(32)}` as const
        const body = chat("!words 240 25", { stream: true })
        const payment = yield* sign(fleet, body, key, nonce)
        const cancelled = yield* Effect.promise(() => cancellation(account, nonce))
        const reader = yield* Effect.promise(async () => {
          const call = { method: "POST", headers: { ...headers, "payment-signature": payment } }
          const response = await fetch(`${fleet.url}${path}`, { ...call, body: JSON.stringify(body) })
          const opened = response.body?.getReader()
          await opened?.read()
          return opened
        })
        yield* send(fleet, account.address, `0x${cancelCall(account.address, nonce, cancelled).toString("hex")}`)
        yield* Effect.promise(async () => {
          while ((await reader?.read())?.done === false);
        })
        yield* eventually(fleet.claimStates, { is: (states) => states.includes("UNCOLLECTED") })
        const [receipt] = yield* fleet.receipts
        assert.strictEqual(receipt?.outcome, "uncollected")

        const next = chat("hello")
        const response = yield* pay(fleet, next, yield* sign(fleet, next, key))
        assert.strictEqual(response.status, 402)
        assert.strictEqual(response.body["code"], "PAYMENT_INVALID")
        assert.include(String(response.body["debug"]), "payer_owes_an_uncollected_payment")
        assert.strictEqual((yield* fleet.transfers).length, 0)
      })
    )
  )
})
