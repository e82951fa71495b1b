import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable, Publisher } from "#bus"
import type { Attempt, Delivery } from "#webhooks/contract"
import { subjects } from "#base"
import { Metrics } from "#runtime"
import { AttemptLog, attemptRecord } from "../../../services/webhook-dispatcher/attempt-log.ts"
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

  const answered = (status: number) => AttemptResult.Answered({ status, retryAfter: undefined })
  const silent = (error: string) => AttemptResult.NotAnswered({ error })
  const giveUp = Decision.GiveUp({ reason: "no attempt is left" })
  const retry = Decision.Retry({ dueAtMs: 1_795_176_009_000, delayMs: 8_000 })
  it.each([
    ["delivered", Decision.Delivered(), answered(200), null],
    ["gone", Decision.Gone(), answered(410), null],
    ["failed", giveUp, answered(500), null],
    ["failed", giveUp, silent("ConnectFailed: no route"), null],
    ["failed", retry, answered(500), "2026-11-20T12:00:09.000Z"],
    ["refused", giveUp, silent("AddressRefused: 10.0.0.1 is private"), null]
  ] as const)("says that its delivery was %s, and when it is tried again", (outcome, decision, result, next) => {
    const made = { startedAtMs: 0, durationMs: 5.4, body: new Uint8Array(0), headers: {}, requestHeaders: {} }
    const record = attemptRecord(delivery, "demo", { ...made, decision, result, redact: (text) => text })
    assert.deepInclude(record, { outcome, nextAttemptAt: next, durationMs: 5 })
    assert.deepInclude(
      record,
      result._tag === "Answered" ? { status: result.status, error: null } : { status: null, error: result.error }
    )
  })
})

describe("the delivery log", () => {
  /** Batches as they are published, by a broker that takes those for which `takes` is true. */
  const world = (takes: () => boolean = () => true) => {
    const batches: Array<readonly [subject: string, count: number]> = []
    const publisher = {
      publish: (subject: string, _codec: unknown, records: ReadonlyArray<Attempt>) =>
        Effect.suspend(() => {
          if (!takes()) return Effect.fail(new BusUnavailable({ operation: "publish", detail: "no answer" }))
          batches.push([subject, records.length])
          return Effect.void
        })
    }
    const layer = AttemptLog.layer.pipe(
      Layer.provide(Layer.succeed(Publisher, publisher as never)),
      Layer.provideMerge(Metrics.layerTest)
    )
    return { batches, layer }
  }
  const dropped = Effect.map(
    Effect.flatMap(Metrics, ({ text }) => text),
    (text) => Number(/^webhook_attempt_records_dropped_total.* (\d+)$/mu.exec(text)?.[1] ?? 0)
  )
  const record = recordOf(204, {})

  it.effect("is written a moment later, by endpoint and outcome, and all of it at the end", () => {
    const { batches, layer } = world()
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const log = yield* AttemptLog
        for (const id of ["a", "a", "b"]) log.add(id, record)
        log.add("a", recordOf(500, {}))
        assert.deepStrictEqual(batches, [])
        yield* TestClock.adjust("1 second")
        assert.sameDeepMembers(batches.splice(0), [
          [subjects.attempts("a", "delivered"), 2],
          [subjects.attempts("b", "delivered"), 1],
          [subjects.attempts("a", "failed"), 1]
        ])
        log.add("a", record)
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(batches, [[subjects.attempts("a", "delivered"), 1]])
    })
  })

  it.effect("counts what the broker does not take, and what it cannot hold", () => {
    let takes = false
    const { layer } = world(() => takes)
    return Effect.gen(function* () {
      const log = yield* AttemptLog
      for (let index = 0; index < 3; index += 1) log.add("a", record)
      yield* log.flush
      assert.strictEqual(yield* dropped, 3)
      takes = true
      for (let index = 0; index < 3; index += 1) log.add("a", record)
      yield* log.flush
      assert.strictEqual(yield* dropped, 3)
      for (let index = 0; index < 100_000; index += 1) log.add("a", record)
      const lost = (yield* dropped) - 3
      assert.isAbove(lost, 0)
      assert.isBelow(lost, 100_000)
    }).pipe(Effect.provide(layer))
  })
})
