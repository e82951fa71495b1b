/** A running gateway tells what it sells, and sells what it tells. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { extractDiscoveryInfo, validateDiscoveryExtension } from "@x402/extensions/bazaar"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { privateKeyToAccount } from "viem/accounts"
import { withChannels } from "../../support/channel-fleet.ts"
import { chat, withGateway } from "../../support/gateway.ts"
import { withPayments } from "../../support/payment-fleet.ts"

interface Item {
  readonly resource: string
  readonly models: ReadonlyArray<string>
  readonly accepts: ReadonlyArray<{ readonly scheme: string; readonly network: string; readonly payTo: string }>
  readonly extensions: { readonly bazaar: { readonly info: { readonly input: { readonly body: object } } } }
}
interface Paid {
  readonly accepted: object
}
const termsOf = ({ accepts }: Pick<Item, "accepts">) =>
  accepts.map(({ scheme, network, payTo }) => ({ scheme, network, payTo }))

describe("what a gateway tells agents", () => {
  it.live("answers each resource that it lists with a quote by the listed terms", () =>
    withPayments(({ url }) =>
      Effect.promise(async () => {
        const { items } = (await (await fetch(`${url}/.well-known/x402`)).json()) as { items: ReadonlyArray<Item> }
        assert.isNotEmpty(items)
        for (const item of items) {
          const body = JSON.stringify({ ...item.extensions.bazaar.info.input.body, model: item.models[0] })
          const answer = await fetch(item.resource, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body
          })
          assert.strictEqual(answer.status, 402, item.resource)
          const quoted = (await answer.json()) as Item
          assert.deepStrictEqual(termsOf(quoted), termsOf(item), item.resource)
          assert.deepStrictEqual(quoted.extensions.bazaar, item.extensions.bazaar, item.resource)
          assert.deepStrictEqual(validateDiscoveryExtension(quoted.extensions.bazaar as never), { valid: true })
        }
      })
    )
  )

  it.live("has the protocol's own client repeat the short form to a facilitator, with each way to pay", () =>
    withChannels(
      ({ url, chain }) =>
        Effect.promise(async () => {
          const account = privateKeyToAccount(chain.payer.privateKey)
          for (const scheme of [new ExactEvmScheme(account), new BatchSettlementEvmScheme(account)]) {
            const sent: Array<string> = []
            const watched: typeof fetch = (input, init) => {
              const request = new Request(input, init)
              sent.push(request.headers.get("payment-signature") ?? "")
              return fetch(request)
            }
            const pay = wrapFetchWithPayment(watched, new x402Client().register("eip155:*", scheme))
            const answer = await pay(`${url}/api/v1/chat/completions`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(chat("hello there"))
            })
            assert.strictEqual(answer.status, 200, await answer.text())
            const payment = JSON.parse(Buffer.from(sent.at(-1) ?? "", "base64").toString("utf8")) as Paid
            const found = extractDiscoveryInfo(payment as never, payment.accepted as never)
            assert.strictEqual(found?.resourceUrl, `${url}/api/v1/chat/completions`)
            assert.deepInclude(found?.discoveryInfo.input, { type: "http", method: "POST", bodyType: "json" })
            assert.isDefined(found?.discoveryInfo.output?.example)
          }
        }),
      { gateway: { Bazaar: "header" } }
    )
  )

  it.live("gives both documents a tag, and answers 304 to it", () =>
    withGateway(({ url }) =>
      Effect.promise(async () => {
        for (const path of ["/.well-known/x402", "/llms.txt"]) {
          const whole = await fetch(`${url}${path}`)
          const etag = whole.headers.get("etag") ?? ""
          assert.strictEqual(whole.status, 200)
          assert.strictEqual(whole.headers.get("cache-control"), "public, max-age=300")
          const again = await fetch(`${url}${path}`, { headers: { "if-none-match": etag } })
          assert.strictEqual(again.status, 304, path)
          assert.strictEqual(await again.text(), "")
        }
      })
    )
  )
})
