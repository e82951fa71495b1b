import { assert, describe, it } from "@effect/vitest"
import type { Delivery } from "#contracts"
import type { EndpointSettings } from "../../../services/webhook-dispatcher/endpoint-settings.ts"
import { requestHeaders } from "../../../services/webhook-dispatcher/request-headers.ts"

const endpoint: EndpointSettings = {
  id: "a",
  partition: 0,
  name: "a",
  url: "https://receiver.example/",
  secret: undefined,
  standardWebhooksKey: undefined,
  wants: () => true,
  timeoutMs: 1,
  concurrency: 1,
  backlogMax: 1,
  hasBreaker: true,
  retry: { attemptsMax: 1, initialBackoffMs: 1, jitter: 0, retryAfterMsMax: 1 }
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

describe("the headers of an attempt", () => {
  it("are the contract's five for a signed endpoint, and the sequence", () => {
    const headers = requestHeaders({ ...endpoint, secret: "k" }, delivery, body, 0)
    assert.deepInclude(headers, {
      "Content-Type": "application/json; charset=utf-8",
      "X-Service-Event": "work_item.merged",
      "X-Service-Delivery": delivery.deliveryId,
      "X-Service-Schema-Version": "1.1.0",
      "X-Service-Sequence": "7"
    })
    assert.match(headers["X-Service-Signature"] ?? "", /^sha256=[0-9a-f]{64}$/u)
  })

  it("carry no signature without a secret, and nothing of Standard Webhooks unless asked for", () => {
    const headers = requestHeaders(endpoint, delivery, body, 0)
    assert.doesNotHaveAnyKeys(headers, ["X-Service-Signature", "webhook-signature", "X-Service-Redrive-Of"])
  })

  it("add the second signature beside the first, never instead of it", () => {
    const both = { ...endpoint, secret: "k", standardWebhooksKey: new Uint8Array([1, 2]) }
    const headers = requestHeaders(both, delivery, body, 1_700_000_000_999)
    assert.containsAllKeys(headers, ["X-Service-Signature", "webhook-signature"])
    assert.deepInclude(headers, { "webhook-id": delivery.deliveryId, "webhook-timestamp": "1700000000" })
  })

  it("name the delivery that a redrive sends again", () => {
    const redriveOf = "0f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
    assert.strictEqual(requestHeaders(endpoint, { ...delivery, redriveOf }, body, 0)["X-Service-Redrive-Of"], redriveOf)
  })
})
