import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { type Attempt, type AttemptOutcome, endpointIdOf } from "#webhooks/contract"
import { isoTime, subjects } from "#base"
import { attemptBatchCodec } from "#webhooks"
import { itemsOf, type Json, withConsole } from "../../support/console.ts"

/**
 * An hour of 500 deliveries a second to twenty endpoints, as the dispatcher writes it: ten lines a message. By default
 * a tenth of it; STARLING_DELIVERIES_SHARE=1 is the whole.
 */
const share = Number(process.env["STARLING_DELIVERIES_SHARE"] ?? "0.1")
const messages = Math.round(180_000 * share)
const linesEach = 10
const endpoints = Array.from({ length: 20 }, (_, index) => `endpoint-${index}`)
const atMs = 1_795_176_000_000
/** One message in a thousand is of failures, all of them among the oldest half and at one endpoint. */
const isFailed = (index: number) => index < messages / 2 && index % 1_000 === 0

const lines = (endpoint: string, outcome: AttemptOutcome): ReadonlyArray<Attempt> =>
  Array.from({ length: linesEach }, (_, index) => ({
    deliveryId: randomUUID(),
    endpoint,
    event: "work_item.merged",
    sequence: index + 1,
    attempt: 1,
    startedAt: isoTime(atMs),
    durationMs: 12,
    outcome,
    status: outcome === "delivered" ? 204 : 500,
    error: null,
    responseBody: "",
    nextAttemptAt: null
  }))

const oldestId = randomUUID()

const fill = Effect.gen(function* () {
  const publisher = yield* Publisher
  const oldest = lines("endpoint-0", "failed").map((line) => ({ ...line, deliveryId: oldestId }))
  yield* publisher.publish(subjects.attempts(endpointIdOf("endpoint-0"), "failed"), attemptBatchCodec, oldest)
  const indices = Array.from({ length: messages }, (_, index) => index)
  yield* Effect.forEach(
    indices,
    (index) => {
      const outcome = isFailed(index) ? "failed" : "delivered"
      const endpoint = isFailed(index) ? "endpoint-0" : (endpoints[index % endpoints.length] ?? "")
      const subject = subjects.attempts(endpointIdOf(endpoint), outcome)
      return publisher.publish(subject, attemptBatchCodec, lines(endpoint, outcome))
    },
    { concurrency: 512, discard: true }
  )
})

const queries = {
  "of an endpoint": "endpoint=endpoint-7",
  "of an endpoint that were delivered": "endpoint=endpoint-7&outcome=delivered",
  "of an endpoint that failed, long ago": "endpoint=endpoint-0&outcome=failed",
  "that failed at any endpoint, long ago": "outcome=failed",
  "of an endpoint with none": "endpoint=nobody&outcome=failed"
}

const beforeOf = ({ error }: Json) => (error as { readonly details?: Json } | undefined)?.details?.["before"]

describe("the deliveries of an hour at 500 a second", () => {
  it.live("are listed by endpoint and outcome in less than 200 ms a page, and found by their id", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* fill
        for (const [name, query] of Object.entries(queries)) {
          const took: Array<number> = []
          for (let round = 0; round < 9; round += 1) {
            const beganMs = performance.now()
            const { status, body } = yield* call(`GET /deliveries?${query}`)
            took.push(performance.now() - beganMs)
            assert.strictEqual(status, 200)
            assert.strictEqual(itemsOf(body).length, query.includes("nobody") ? 0 : 50, name)
          }
          const sorted = took.toSorted((left, right) => left - right)
          const [median = 0, slowest = 0] = [sorted[4], sorted[8]]
          console.info(`deliveries ${name}: median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`)
          assert.isBelow(median, 200, name)
        }
        const beganMs = performance.now()
        let found = yield* call(`GET /deliveries/${oldestId}`)
        for (let before = beforeOf(found.body); before !== undefined; before = beforeOf(found.body)) {
          found = yield* call(`GET /deliveries/${oldestId}?before=${before}`)
        }
        const tookMs = performance.now() - beganMs
        console.info(`the oldest delivery of ${messages} messages, by its id: ${tookMs.toFixed(0)} ms`)
        assert.strictEqual(found.status, 200)
      })
    )
  )
})
