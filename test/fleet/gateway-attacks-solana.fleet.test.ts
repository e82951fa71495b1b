import { randomBytes } from "node:crypto"
import { SolanaLLMClient } from "@blockrun/llm"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import type { PaymentRequirements } from "#payments/contract"
import { readSvmKey, signTransfer } from "#payments"
import { until } from "../../dev/fixtures/eventually.ts"
import { type PaidFleet, startPaidFleet } from "../support/paid-fleet.ts"

let paid: PaidFleet

beforeAll(async () => {
  paid = await startPaidFleet()
})
afterAll(() => paid.stop())

interface Payment {
  readonly payload: { readonly transaction: string }
}

const decoded = (header: string) => JSON.parse(Buffer.from(header, "base64").toString("utf8")) as Payment
const withWire = (header: string, change: (wire: Buffer) => void) => {
  const payment = decoded(header)
  const wire = Buffer.from(payment.payload.transaction, "base64")
  change(wire)
  return Buffer.from(JSON.stringify({ ...payment, payload: { transaction: wire.toString("base64") } })).toString(
    "base64"
  )
}
const send = async (payment: string) => {
  const response = await fetch(`${paid.url}/solana/api/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "payment-signature": payment },
    // As the client asked: the price is the same.
    body: JSON.stringify({
      model: "demo/echo",
      messages: [{ role: "user", content: "under the sun" }],
      max_tokens: 1024
    })
  })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
}

interface Quote {
  readonly accepts: ReadonlyArray<PaymentRequirements>
}

/** Payments of the fleet's own payer for the same call, which differ by their memos. */
const signedMany = async (body: unknown, count: number) => {
  const url = `${paid.url}/solana/api/v1/chat/completions`
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const unpaid = (await (await fetch(url, post)).json()) as Quote
  const [accepted] = unpaid.accepts
  const latest = (await (
    await fetch(paid.solana.rpc, {
      ...post,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getLatestBlockhash", params: [] })
    })
  ).json()) as { readonly result: { readonly value: { readonly blockhash: string } } }
  if (accepted === undefined) throw new Error("no quote")
  const key = Result.getOrThrow(readSvmKey(accepted.network, paid.solana.secretKey))
  return Array.from({ length: count }, (_, index) => {
    const signed = signTransfer({
      requirements: accepted,
      seed: Redacted.value(key.secret),
      blockhash: latest.result.value.blockhash,
      decimals: 6,
      memo: `payment ${index}`
    })
    const payload = { x402Version: 2, accepted, payload: { ...Result.getOrThrow(signed) } }
    return Buffer.from(JSON.stringify(payload)).toString("base64")
  })
}

describe("many calls of one Solana wallet at once", () => {
  it("are all answered, streams and whole answers, while the wallet holds enough for all", async () => {
    const before = await paid.solana.balance()
    const body = (stream: boolean) => ({
      model: "demo/echo",
      messages: [{ role: "user", content: "!words 10 50" }],
      max_tokens: 1024,
      stream
    })
    const payments = await signedMany(body(true), 10)
    const answers = await Promise.all(
      payments.map(async (payment, index) => {
        const response = await fetch(`${paid.url}/solana/api/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", "payment-signature": payment },
          body: JSON.stringify(body(index % 2 === 0))
        })
        return { status: response.status, text: await response.text() }
      })
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 10 }, () => 200),
      answers.map(({ text }) => text.slice(-200)).join("\n")
    )
    await until(async () => Number(await paid.solana.balance()) < Number(before))
  })
})

describe("attack 2 on Solana: one transaction in another encoding", () => {
  it("is the same payment, whatever the fee payer's signature slot contains", async () => {
    const { rpc, secretKey } = paid.solana
    const client = new SolanaLLMClient({ privateKey: secretKey, apiUrl: `${paid.url}/solana/api`, rpcUrl: rpc })
    assert.strictEqual(await client.chat("demo/echo", "under the sun"), "under the sun")
    const payment = paid.wire.exchanges.at(-1)?.payment ?? ""
    const after = await paid.solana.balance()
    const feePayersSlot = 1
    const spellings = [
      payment,
      withWire(payment, (wire) => void randomBytes(64).copy(wire, feePayersSlot)),
      withWire(payment, (wire) => void wire.fill(0xff, feePayersSlot, feePayersSlot + 64)),
      Buffer.from(JSON.stringify(decoded(payment), undefined, 2)).toString("base64")
    ]
    for (const spelled of spellings) {
      const { status, body } = await send(spelled)
      assert.deepStrictEqual([status, body["code"]], [402, "PAYMENT_REPLAY"])
    }
    assert.strictEqual(await paid.solana.balance(), after)
  })

  it("is not a payment when any signed byte is changed", async () => {
    const payment = paid.wire.exchanges.find((one) => one.status === 200)?.payment ?? ""
    const before = await paid.solana.balance()
    const messageAt = 1 + 2 * 64
    for (const at of [messageAt + 40, messageAt + 200, 1 + 64 + 3]) {
      const forged = withWire(payment, (wire) => void wire.writeUInt8((wire[at] ?? 0) ^ 1, at))
      const { status, body } = await send(forged)
      assert.deepStrictEqual([status, body["code"]], [402, "PAYMENT_INVALID"])
    }
    assert.strictEqual(await paid.solana.balance(), before)
  })
})
