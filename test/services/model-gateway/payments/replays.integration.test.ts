import { Agent, request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chat } from "../../../support/gateway.ts"
import { quoteOf, signPayment } from "../../../support/payment-client.ts"
import { balanced } from "../../../support/payment-fleet.ts"
import { layouts } from "../../../support/payment-layouts.ts"

const path = "/api/v1/chat/completions"
const body = JSON.stringify(chat("hello"))

interface Answered {
  readonly status: number
  readonly text: string
}

const post = (url: string, agent: Agent, payment: string): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "payment-signature": payment }
    const sent = request(`${url}${path}`, { method: "POST", agent, headers }, (response) => {
      let text = ""
      response.on("data", (data: Buffer) => (text += data.toString()))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once("error", reject)
    sent.end(body)
  })

describe.each(layouts)("one authorization sent a thousand times at once, $layout", ({ withPayments }) => {
  it.live("is served once, settled once, and refused as a replay otherwise", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const callsOfTokens = Effect.map(fleet.metrics, (text) => {
          const calls = /x402_rpc_calls_total\{[^}]*method="eth_call"[^}]*\} (\d+)/gu
          return [...text.matchAll(calls)].reduce((sum, [, count]) => sum + Number(count), 0)
        })
        // The token's own properties are asked at the start.
        const before = yield* callsOfTokens
        const answers = yield* Effect.promise(async () => {
          const headers = { "content-type": "application/json" }
          const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body })
          const [offer] = quoteOf(unpaid).accepts
          if (offer === undefined) throw new Error("no quote")
          const payment = await signPayment(fleet.chain.payer.privateKey, offer)
          const agent = new Agent({ keepAlive: true, maxSockets: 1_000 })
          const all = await Promise.all(Array.from({ length: 1_000 }, () => post(fleet.url, agent, payment)))
          agent.destroy()
          return all
        })
        const served = answers.filter(({ status }) => status === 200)
        const replays = answers.filter(({ status, text }) => status === 402 && text.includes("PAYMENT_REPLAY"))
        assert.deepStrictEqual([served.length, replays.length], [1, 999])
        assert.strictEqual(yield* balanced(fleet), 1)
        assert.strictEqual(fleet.upstream.calls.length, 1)
        // Verified once and settled once, and once more before it was sent: a storm of replays asks no chain.
        assert.isAtMost((yield* callsOfTokens) - before, 3)
      })
    )
  )
})
