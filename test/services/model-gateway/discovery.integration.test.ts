/** A running gateway tells what it sells, and sells what it tells. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { withGateway } from "../../support/gateway.ts"
import { withPayments } from "../../support/payment-fleet.ts"

interface Item {
  readonly resource: string
  readonly models: ReadonlyArray<string>
  readonly accepts: ReadonlyArray<{ readonly scheme: string; readonly network: string; readonly payTo: string }>
  readonly extensions: { readonly bazaar: { readonly info: { readonly input: { readonly body: object } } } }
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
          assert.deepStrictEqual(termsOf((await answer.json()) as Item), termsOf(item), item.resource)
        }
      })
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
