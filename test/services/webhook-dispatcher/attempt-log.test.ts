import { assert, describe, it } from "@effect/vitest"
import type { Delivery } from "#webhooks/contract"
import { attemptRecord } from "../../../services/webhook-dispatcher/attempt-log.ts"
import { AttemptResult, Decision } from "../../../services/webhook-dispatcher/retry-policy.ts"

const delivery: Delivery = {
  deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  endpointId: "0123456789abc",
  event: "queue.paused",
  schemaVersion: "1.2.0",
  sequence: 7,
  attempt: 2,
  storedAt: 0,
  dueAt: 0,
  previousEndedAt: 1_795_176_000_000
}

const recordOf = (status: number, headers: Readonly<Record<string, string>>) =>
  attemptRecord(delivery, "demo", {
    startedAtMs: 1_795_176_001_000,
    durationMs: 5,
    result: AttemptResult.Answered({ status, retryAfter: undefined }),
    body: new TextEncoder().encode("hunter2 is wrong"),
    headers,
    requestHeaders: { "X-Service-Event": "queue.paused" },
    decision: status < 300 ? Decision.Delivered() : Decision.GiveUp({ reason: "no attempt is left" }),
    redact: (text) => text.replaceAll("hunter2", "[secret]")
  })

describe("a line of the delivery log", () => {
  it("keeps headers and answer of a failed attempt, without secrets and cookies", () => {
    const record = recordOf(500, { server: "slow/1", "set-cookie": "session=1", "x-echo": "hunter2" })

    assert.deepStrictEqual(record.requestHeaders, { "X-Service-Event": "queue.paused" })
    assert.deepStrictEqual(record.responseHeaders, { server: "slow/1", "set-cookie": "[cookie]", "x-echo": "[secret]" })
    assert.strictEqual(record.responseBody, "[secret] is wrong")
    assert.strictEqual(record.previousEndedAt, delivery.previousEndedAt)
  })

  it("keeps no more of an answer's headers than 2,048 characters, and 512 of each", () => {
    const headers = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x-${index}`, "y".repeat(4_000)]))
    const kept = recordOf(503, headers).responseHeaders ?? {}

    assert.isNotEmpty(kept)
    for (const value of Object.values(kept)) assert.isAtMost(value.length, 512)
    assert.isAtMost(Object.entries(kept).flat().join("").length, 2_048)
  })

  it("keeps neither headers nor answer of a delivery that was made", () => {
    const record = recordOf(204, { server: "quick/1" })

    assert.strictEqual(record.responseBody, "")
    assert.notProperty(record, "requestHeaders")
    assert.notProperty(record, "responseHeaders")
  })
})
