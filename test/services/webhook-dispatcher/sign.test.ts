import { sign, verify } from "@octokit/webhooks-methods"
import { assert, describe, it } from "@effect/vitest"
import { Webhook } from "standardwebhooks"
import { signBody, standardWebhooksHeaders, standardWebhooksKey } from "../../../services/webhook-dispatcher/sign.ts"

const utf8 = new TextEncoder()

describe("the signature of a body", () => {
  it("is GitHub's published example for its secret and body", () => {
    assert.strictEqual(
      signBody("It's a Secret to Everybody", utf8.encode("Hello, World!")),
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    )
  })

  it("is accepted by an unmodified verifier, and is what its signer makes", async () => {
    const body = JSON.stringify({ event: "work_item.merged", text: "ü 🐦" })
    const signature = signBody("s3cret", utf8.encode(body))
    assert.isTrue(await verify("s3cret", body, signature))
    assert.strictEqual(await sign("s3cret", body), signature)
    assert.isFalse(await verify("s3cret", `${body} `, signature))
    assert.isFalse(await verify("other", body, signature))
  })

  it("comes in Standard Webhooks form, accepted by that project's own library", () => {
    const secret = `whsec_${Buffer.from("a key of at least twenty-four bytes").toString("base64")}`
    const id = "4f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
    const body = JSON.stringify({ a: 1 })
    const headers = standardWebhooksHeaders(standardWebhooksKey(secret), id, Date.now(), utf8.encode(body))
    const verifier = new Webhook(secret)
    assert.deepStrictEqual(verifier.verify(body, { ...headers }), { a: 1 })
    assert.throws(() => verifier.verify(`${body} `, { ...headers }))
  })
})
