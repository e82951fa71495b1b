/**
 * Each payment role in a process of its own, killed at each of its steps. After any death the chain's transfers, the
 * receipts, and the answered or kept calls are equal in number in the end.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { chat } from "../support/gateway.ts"
import {
  bookFindings,
  booksReadAt,
  isAnswered,
  type PaidProcesses,
  path,
  sending,
  simulating,
  startPaidProcesses
} from "../support/payment-kills.ts"

let fleet: PaidProcesses

beforeAll(async () => {
  const processes = [["payment-verifier"], ["payment-settler"], ["model-gateway"]] as const
  fleet = await startPaidProcesses(processes, { payments: { LeaseSeconds: 2, SettleWaitSeconds: 2 } })
})
afterAll(() => fleet.end())

/** Everything ended, and so many payments collected. */
const collects = async (count: number) => assert.strictEqual(await fleet.collected(), count)

describe("a killed verifier", () => {
  it("before it has claimed the payment leaves the payment good", async () => {
    const body = chat("before the claim")
    const payment = await fleet.sign(body)
    fleet.of("payment-verifier").signal("SIGSTOP")
    const unanswered = fleet.pay(body, payment)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await fleet.kill("payment-verifier")
    await fleet.run(["payment-verifier"])
    if ((await unanswered)?.status !== 200) await fleet.payUntil(isAnswered, body, payment)
    await collects(1)
  })

  it("after it has claimed the payment leaves it to the next one, at the gateway's or the caller's retry", async () => {
    const body = chat("after the claim")
    const payment = await fleet.sign(body)
    fleet.gate.hold(simulating, "call")
    const unanswered = fleet.pay(body, payment)
    await fleet.held()
    await fleet.kill("payment-verifier")
    fleet.gate.open()
    await fleet.run(["payment-verifier"])
    if ((await unanswered)?.status !== 200) await fleet.payUntil(isAnswered, body, payment)
    await collects(2)
  })
})

describe("a killed settler", () => {
  const killedAt = async (...held: Parameters<PaidProcesses["callHeldAt"]>) => {
    const { answer } = await fleet.callHeldAt(...held)
    await fleet.kill("payment-settler")
    fleet.gate.open()
    await fleet.run(["payment-settler"])
    assert.strictEqual((await answer)?.status, 200)
  }

  it("before it has signed leaves the payment to the next", async () => {
    await killedAt("before signing", simulating, "call")
    await collects(3)
  })

  it("between storing the transaction's hash and sending it leaves it to the next", async () => {
    await killedAt("before sending", sending, "call")
    await collects(4)
  })

  it("after the chain has the transfer and before the reply leaves one transfer and one receipt", async () => {
    await killedAt("after sending", sending, "answer")
    await collects(5)
  })
})

describe("a killed gateway", () => {
  const again = async () => {
    await fleet.kill("model-gateway")
    await fleet.run(["model-gateway"])
  }

  it("while the model works charges nothing, and the payment is good once its lease is over", async () => {
    const body = chat("!delay 2s")
    const payment = await fleet.sign(body)
    const broken = fleet.pay(body, payment)
    await fleet.modelWorks()
    await again()
    assert.isUndefined(await broken)
    assert.strictEqual(await fleet.transfers(), 5)
    await fleet.payUntil(isAnswered, body, payment)
    await collects(6)
  })

  it.each([
    ["who has named the call", "kept by name", { identifier: "kept-answer-0123456789" }, 7, "PAYMENT_IDENTIFIER_TAKEN"],
    ["who sends nothing but the same payment and request", "kept without a name", {}, 8, "PAYMENT_REPLAY"]
  ] as const)(
    "while its payment is settled has kept the answer for its payer, %s",
    async (_who, text, options, count, code) => {
      const held = await fleet.callHeldAt(text, sending, "call", options)
      await fleet.kill("model-gateway")
      fleet.gate.open()
      await fleet.run(["model-gateway"])
      assert.isUndefined(await held.answer)
      await collects(count)
      const said = await fleet.payUntil(isAnswered, held.body, held.payment)
      assert.include(said?.text ?? "", `500ms ${text}`)
      assert.isTrue(said?.headers.has("x-payment-receipt"))
      await collects(count)
      const other = await fleet.pay(chat("something else"), held.payment)
      assert.strictEqual(other?.body["code"], code)
    }
  )

  it("in the middle of a stream is paid for the delivered part", async () => {
    const body = chat("!words 500 20", { stream: true })
    const payment = await fleet.sign(body)
    const headers = { "content-type": "application/json", "payment-signature": payment }
    const response = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    await response.body?.getReader().read()
    await again()
    await collects(9)
  })
})

describe("the books", () => {
  it("balance after all this", async () => {
    const metrics = await fleet.of("payment-settler").metrics()
    assert.deepStrictEqual(bookFindings(metrics), [])
    assert.isAbove(booksReadAt(metrics), 0)
  })
})
