import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { knownTokenOf } from "#payments/contract"
import { TrialPayers } from "#payments"
import { codeOf, itemsOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"

const network = "eip155:84532"
const payer = { rpcUrl: "http://127.0.0.1:9", key: Redacted.make(`0x${"11".repeat(32)}`) }
const offer = {
  scheme: "exact",
  network,
  amount: "25685",
  asset: knownTokenOf(network)?.asset,
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 600,
  extra: { name: "USDC", version: "2" }
}
const quoteOf = (changes: Json = {}) =>
  Buffer.from(
    JSON.stringify({ x402Version: 2, resource: { url: "http://localhost/x" }, accepts: [{ ...offer, ...changes }] })
  ).toString("base64")

const paying = Effect.provideService(TrialPayers, { evm: payer })

describe("a trial's payment", () => {
  it.live("is signed for the quote's own terms, and written down", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const got = yield* call("POST /trials/payments", { body: { quote: quoteOf() } })

        assert.strictEqual(got.status, 200, JSON.stringify(got.body))
        const payment = JSON.parse(Buffer.from(String(got.body["payment"]), "base64").toString()) as Json
        assert.deepStrictEqual(payment["accepted"], offer)
        const { authorization } = payment["payload"] as { readonly authorization: Json }
        assert.deepInclude(authorization, { to: offer.payTo, value: offer.amount })
        const [entry] = itemsOf((yield* call("GET /audit")).body)
        assert.deepInclude(entry, { action: "trial-pay", target: network, reason: "0.025685 USD of a local chain" })
      })
    ).pipe(paying)
  )

  it.live("is not signed above a dollar, in another token, for a chain without a payer, or by a viewer", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const refused = (quote: string) =>
          Effect.map(call("POST /trials/payments", { body: { quote } }), ({ status, body }) => [status, codeOf(body)])

        assert.deepStrictEqual(yield* refused(quoteOf({ amount: "1000001" })), [400, "validation_failed"])
        assert.deepStrictEqual(yield* refused(quoteOf({ asset: offer.payTo })), [400, "validation_failed"])
        assert.deepStrictEqual(yield* refused("no quote"), [400, "validation_failed"])
        const solana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
        const other = quoteOf({ network: solana, asset: knownTokenOf(solana)?.asset })
        assert.deepStrictEqual(yield* refused(other), [409, "conflict"])
        const token = yield* tokenOf("viewer")
        const viewer = yield* call("POST /trials/payments", { body: { quote: quoteOf() }, token })
        assert.strictEqual(viewer.status, 403)
      })
    ).pipe(paying)
  )
})
