import { assert, describe, it } from "@effect/vitest"
import { sign, verify } from "@octokit/webhooks-methods"
import { Webhook } from "standardwebhooks"
import type { Delivery } from "#webhooks/contract"
import type { EndpointSettings } from "../../../services/webhook-dispatcher/endpoints/settings.ts"
import {
  requestHeaders,
  signBody,
  standardWebhooksHeaders,
  standardWebhooksKey
} from "../../../libs/webhooks/request-headers.ts"

const endpoint: EndpointSettings = {
  id: "a",
  partition: 0,
  name: "a",
  url: "https://receiver.example/",
  secrets: [],
  standardWebhooksKeys: [],
  headers: undefined,
  format: "starling",
  madeAtRunTime: null,
  wants: () => true,
  timeoutMs: 1,
  concurrency: 1,
  backlogMax: 1,
  hasBreaker: true,
  retry: { waitsMs: [], jitter: 0, retryAfterMsMax: 1 }
}
const delivery: Delivery = {
  deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  endpointId: "a",
  event: "work_item.merged",
  schemaVersion: "1.1.0",
  sequence: 7,
  attempt: 2,
  storedAt: 1,
  dueAt: 1
}
const body = new TextEncoder().encode("{}")
const newest = <A>(key: A) => ({ key, notAfterMs: null })

describe("the headers of an attempt", () => {
  it("are the contract's five for a signed endpoint, and the sequence", () => {
    const headers = requestHeaders({ ...endpoint, secrets: [newest("k")] }, { delivery, body }, 0)
    assert.deepInclude(headers, {
      "Content-Type": "application/json; charset=utf-8",
      "X-Service-Event": "work_item.merged",
      "X-Service-Delivery": delivery.deliveryId,
      "X-Service-Schema-Version": "1.1.0",
      "X-Service-Sequence": "7"
    })
    assert.match(headers["X-Service-Signature"] ?? "", /^sha256=[0-9a-f]{64}$/u)
  })

  it("mark a test, and nothing else as one", () => {
    const marked = (isTest?: boolean) =>
      requestHeaders(endpoint, { delivery: isTest === undefined ? delivery : { ...delivery, isTest }, body }, 0)
    assert.strictEqual(marked(true)["X-Service-Test"], "true")
    for (const headers of [marked(), marked(false)]) assert.notProperty(headers, "X-Service-Test")
  })

  it("carry no signature without a secret, and nothing of Standard Webhooks by default", () => {
    const headers = requestHeaders(endpoint, { delivery, body }, 0)
    assert.doesNotHaveAnyKeys(headers, ["X-Service-Signature", "webhook-signature", "X-Service-Redrive-Of"])
  })

  it("add the second signature beside the first, never instead of it", () => {
    const both = { ...endpoint, secrets: [newest("k")], standardWebhooksKeys: [newest(new Uint8Array([1, 2]))] }
    const headers = requestHeaders(both, { delivery, body }, 1_700_000_000_999)
    assert.containsAllKeys(headers, ["X-Service-Signature", "webhook-signature"])
    assert.deepInclude(headers, { "webhook-id": delivery.deliveryId, "webhook-timestamp": "1700000000" })
  })

  it("name the original delivery of a redrive", () => {
    const redriveOf = "0f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
    assert.strictEqual(
      requestHeaders(endpoint, { delivery: { ...delivery, redriveOf }, body }, 0)["X-Service-Redrive-Of"],
      redriveOf
    )
  })
})

describe("a secret that was rotated", () => {
  const rotated = {
    ...endpoint,
    secrets: [newest("new"), { key: "old", notAfterMs: 1_000 }],
    standardWebhooksKeys: ["new", "old"].map((text, index) => ({
      key: new TextEncoder().encode(text),
      notAfterMs: index === 0 ? null : 1_000
    }))
  }

  it("signs beside the new one, in a header of its own and in the list of Standard Webhooks", () => {
    const headers = requestHeaders(rotated, { delivery, body }, 999)
    assert.strictEqual(headers["X-Service-Signature"], signBody("new", body))
    assert.strictEqual(headers["X-Service-Signature-Previous"], signBody("old", body))
    assert.match(headers["webhook-signature"] ?? "", /^v1,\S+ v1,\S+$/u)
  })

  it("signs nothing from the moment on at which its time is over", () => {
    const headers = requestHeaders(rotated, { delivery, body }, 1_000)
    assert.strictEqual(headers["X-Service-Signature"], signBody("new", body))
    assert.doesNotHaveAnyKeys(headers, ["X-Service-Signature-Previous"])
    assert.match(headers["webhook-signature"] ?? "", /^v1,\S+$/u)
  })
})

describe("the receiver's own headers", () => {
  it("are sent beside ours", () => {
    const headers = requestHeaders({ ...endpoint, headers: { Authorization: "Bearer x" } }, { delivery, body }, 0)
    assert.deepInclude(headers, { Authorization: "Bearer x", "X-Service-Event": "work_item.merged" })
  })
})

const utf8 = new TextEncoder()

describe("the signature of a body", () => {
  it("equals GitHub's published example for its secret and body", () => {
    assert.strictEqual(
      signBody("It's a Secret to Everybody", utf8.encode("Hello, World!")),
      "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    )
  })

  it("is accepted by an unmodified verifier, and equals its signer's result", async () => {
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
    const headers = standardWebhooksHeaders([standardWebhooksKey(secret)], {
      deliveryId: id,
      attemptAtMs: Date.now(),
      body: utf8.encode(body)
    })
    const verifier = new Webhook(secret)
    assert.deepStrictEqual(verifier.verify(body, { ...headers }), { a: 1 })
    assert.throws(() => verifier.verify(`${body} `, { ...headers }))
  })
})
