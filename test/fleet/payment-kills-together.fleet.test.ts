/**
 * The payment roles in one process, as on a small machine, and that process killed at each step of a paid call. Its
 * unsaved state is lost each time; in the end each payer is charged once for an answered or kept call, and never
 * otherwise.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { RoleName } from "#base"
import { chat, type GatewayAnswer } from "../support/gateway.ts"
import {
  bookFindings,
  booksReadAt,
  type HeldCall,
  isAnswered,
  isReceipted,
  type PaidProcesses,
  path,
  sending,
  simulating,
  startPaidProcesses
} from "../support/payment-kills.ts"
import { until } from "../../dev/fixtures/eventually.ts"

const roles: ReadonlyArray<RoleName> = ["payment-verifier", "payment-settler", "model-gateway"]
// No payment that a payer still comes for is a finding.
const patient = { BooksGraceSeconds: 90 }
const graceSeconds = 1
const receiptForm = /^0x[0-9a-f]{64}$/u

let fleet: PaidProcesses
/** Transactions that payers heard of. */
const told: Array<string> = []

beforeAll(async () => {
  const payments = { LeaseSeconds: 2, SettleWaitSeconds: 10 }
  fleet = await startPaidProcesses([roles], { payments, settler: patient })
})
afterAll(() => fleet.end())

const kill = () => fleet.kill("model-gateway")
const run = (settler = {}) => fleet.run(roles, settler)
const claimStates = () => Effect.runPromise(fleet.books.claimStates)

const collects = async (count: number) => assert.strictEqual(await fleet.collected(), count)

const receiptOf = (answer: GatewayAnswer | undefined) => {
  const transaction = answer?.headers.get("x-payment-receipt") ?? ""
  assert.match(transaction, receiptForm)
  told.push(transaction)
  return transaction
}

let names = 0
/** A call with a name of its own, so that its answer can be requested again. */
const callHeldAt = (text: string, method: RegExp, what: "call" | "answer") => {
  names += 1
  return fleet.callHeldAt(text, method, what, { identifier: `call-of-its-own-name-${names}` })
}

const killAndRun = async ({ answer }: HeldCall) => {
  await kill()
  fleet.gate.open()
  assert.isUndefined(await answer)
  await run()
}

/** A repeated request gets the answer for the one payment, however often. */
const hasItsAnswer = async ({ body, payment }: HeldCall) => {
  const answer = await fleet.payUntil(isReceipted, body, payment)
  const question = body.messages[0]?.content ?? ""
  assert.include(answer?.text ?? "", question)
  const again = await fleet.payUntil(isAnswered, body, payment)
  assert.strictEqual(receiptOf(again), receiptOf(answer))
  assert.strictEqual(again?.text, answer?.text)
}

describe("a killed process with all payment roles", () => {
  it("while the model works charges nothing, and the payment is good once its lease is over", async () => {
    const before = await fleet.transfers()
    const body = chat("!delay 2s")
    const payment = await fleet.sign(body)
    const broken = fleet.pay(body, payment)
    await fleet.modelWorks()
    await kill()
    assert.isUndefined(await broken)
    assert.include(await claimStates(), "CLAIMED")
    await run()
    await until(async () => !(await claimStates()).includes("CLAIMED"))
    assert.strictEqual(await fleet.transfers(), before)
    receiptOf(await fleet.payUntil(isReceipted, body, payment))
    await collects(before + 1)
  })

  it("after the answer is made and before its payment is signed charges nothing, or once for the kept answer", async () => {
    const before = await fleet.transfers()
    const call = await callHeldAt("before signing", simulating, "call")
    await killAndRun(call)
    assert.include([before, before + 1], await fleet.collected())
    await hasItsAnswer(call)
    await collects(before + 1)
  })

  it("between storing the transaction's hash and sending it charges once, for the kept answer", async () => {
    const before = await fleet.transfers()
    const call = await callHeldAt("before sending", sending, "call")
    assert.include(await claimStates(), "SETTLING")
    assert.strictEqual(await fleet.transfers(), before)
    await killAndRun(call)
    await collects(before + 1)
    await hasItsAnswer(call)
    await collects(before + 1)
  })

  it("after the chain has the transfer and before the reply leaves one transfer and one receipt", async () => {
    const before = await fleet.transfers()
    const call = await callHeldAt("after sending", sending, "answer")
    assert.include(await claimStates(), "SETTLING")
    assert.strictEqual(await fleet.transfers(), before + 1)
    await killAndRun(call)
    await collects(before + 1)
    await hasItsAnswer(call)
    await collects(before + 1)
  })

  it("in the middle of a stream is paid once for the delivered part", async () => {
    const before = await fleet.transfers()
    const body = chat("!words 500 20", { stream: true })
    const payment = await fleet.sign(body)
    const headers = { "content-type": "application/json", "payment-signature": payment }
    const response = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    await response.body?.getReader().read()
    assert.include(await claimStates(), "SERVING")
    await kill()
    await run()
    await collects(before + 1)
    assert.strictEqual((await fleet.pay(body, payment))?.status, 402)
    await collects(before + 1)
  })
})

describe("a process with all payment roles, on SIGTERM", () => {
  it("while a payment is being sent answers its call with the receipt, and ends with nothing open", async () => {
    const before = await fleet.transfers()
    const { answer } = await callHeldAt("at the end", sending, "call")
    const process = fleet.of("model-gateway")
    process.signal("SIGTERM")
    await until(() => process.status("/readyz"), { is: 503 })
    fleet.gate.open()
    const answered = await answer
    assert.strictEqual(answered?.status, 200)
    receiptOf(answered)
    assert.strictEqual(await process.ended, 0)
    await collects(before + 1)
    await run()
  })
})

describe("the books", () => {
  it("balance after all this, once the grace period is over", async () => {
    await kill()
    // A block is final once two lie on it: no transfer is still on its way into the books.
    await Effect.runPromise(fleet.chain.rpc("anvil_mine", ["0x2"]))
    await run({ BooksGraceSeconds: graceSeconds })
    const metrics = () => fleet.of("payment-settler").metrics()
    await until(async () => booksReadAt(await metrics()) > 0)
    const first = booksReadAt(await metrics())
    // Entries that were young at the first reading no longer are at this one.
    await until(async () => booksReadAt(await metrics()) > first + 2 * graceSeconds)
    assert.deepStrictEqual(fleet.findings(), [])
    assert.deepStrictEqual(bookFindings(await metrics()), [])
  })

  it("have one receipt for each transfer, and every receipt that a payer got", async () => {
    const receipts = await Effect.runPromise(fleet.books.receipts)
    const transfers = await Effect.runPromise(fleet.books.transfers)
    assert.isTrue(receipts.every(({ outcome }) => outcome === "settled"))
    assert.deepStrictEqual(transfers.map(String).toSorted(), receipts.map(({ amount }) => amount).toSorted())
    const known = receipts.map(({ transaction }) => transaction)
    for (const transaction of known) {
      const made = await Effect.runPromise(fleet.chain.rpc("eth_getTransactionReceipt", [transaction]))
      assert.propertyVal(made, "status", "0x1", `the chain has ${transaction}`)
    }
    assert.strictEqual(new Set(known).size, known.length)
    assert.isAbove(told.length, 0)
    assert.includeMembers(known, told)
  })
})
