import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { Publisher, StreamReader } from "#bus"
import { deliveryPartitionOf, endpointIdOf } from "#webhooks/contract"
import { isoTime, subjects } from "#base"
import { dueDeliveryCodec } from "#webhooks"
import { searchBack } from "../../../../services/console/deliveries/lines.ts"
import {
  because,
  type Call,
  codeOf,
  configured,
  envelopeText,
  itemsOf,
  type Json,
  tokenOf,
  withConsole
} from "../../../support/console.ts"
import { attempted, writeAttempts as write } from "../../../support/delivery-log.ts"

const publishEvent = Effect.flatMap(Publisher, (publisher) =>
  publisher.publishRaw(subjects.event("queue.paused"), new TextEncoder().encode(envelopeText))
)

const idsOf = (call: Call, query: string) =>
  Effect.map(call(`GET /deliveries?${query}`), ({ body }) => itemsOf(body).map(({ deliveryId }) => deliveryId))

const dueTo = (endpoint: string) => {
  const id = endpointIdOf(endpoint)
  return Effect.flatMap(StreamReader, (reader) =>
    reader.last("DELIVERIES", subjects.deliveries(0).due(deliveryPartitionOf(id), id))
  )
}

describe("deliveries on the console", () => {
  it.live("are listed newest first by endpoint, outcome and event, page after page without a gap", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const made = Array.from({ length: 6 }, () => attempted("demo", "delivered"))
        const [failed, merged] = [attempted("demo", "failed"), attempted("b", "failed", { event: "work_item.merged" })]
        yield* write(...made.slice(0, 4))
        yield* write(failed)
        yield* write(merged)
        yield* write(...made.slice(4))
        const newestFirst = made.map(({ deliveryId }) => deliveryId).toReversed()

        assert.deepStrictEqual(yield* idsOf(call, "endpoint=demo&outcome=delivered"), newestFirst)
        assert.deepStrictEqual(yield* idsOf(call, "outcome=failed"), [merged.deliveryId, failed.deliveryId])
        assert.deepStrictEqual(yield* idsOf(call, "event=work_item.*"), [merged.deliveryId])
        assert.deepStrictEqual(yield* idsOf(call, "endpoint=nobody"), [])
        const pages: Array<unknown> = []
        let cursor: unknown = ""
        while (cursor !== null) {
          const query = cursor === "" ? "" : `&cursor=${String(cursor)}`
          const { body } = yield* call(`GET /deliveries?endpoint=demo&outcome=delivered&limit=1${query}`)
          pages.push(...itemsOf(body).map(({ deliveryId }) => deliveryId))
          cursor = body["nextCursor"]
        }
        assert.deepStrictEqual(pages, newestFirst)
      })
    )
  )

  it.live("are listed by the place of their event, from its publication on", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        yield* publishEvent
        yield* publishEvent
        const startedAt = isoTime(yield* Clock.currentTimeMillis)
        const [first, second] = [1, 2].map((sequence) => attempted("demo", "failed", { sequence, startedAt }))
        const ofAnother = attempted("demo", "failed", {
          sequence: 2,
          startedAt: isoTime(Date.parse(startedAt) - 60_000)
        })
        yield* write(ofAnother, ...[first, second].flatMap((line) => (line === undefined ? [] : [line])))

        assert.deepStrictEqual(yield* idsOf(call, "eventSequence=2"), [second?.deliveryId])
        assert.deepStrictEqual(yield* idsOf(call, "eventSequence=1&event=queue.*"), [first?.deliveryId])
        assert.deepStrictEqual(yield* idsOf(call, "eventSequence=9"), [])
        const refused = yield* call("GET /deliveries?eventSequence=last")
        assert.deepStrictEqual([refused.status, codeOf(refused.body)], [400, "validation_failed"])
      })
    )
  )

  it.live("are listed between two times, and a time after the other is refused", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const nowMs = yield* Clock.currentTimeMillis
        const lines = [0, 1, 2].map((second) =>
          attempted("demo", "failed", { startedAt: isoTime(nowMs + (second - 10) * 1_000) })
        )
        yield* write(...lines)
        const [since, until] = [isoTime(nowMs - 9_500), isoTime(nowMs - 8_500)]

        assert.deepStrictEqual(yield* idsOf(call, `since=${since}&until=${until}`), [lines[1]?.deliveryId])
        const refused = yield* call(`GET /deliveries?since=${until}&until=${since}`)
        assert.deepStrictEqual([refused.status, codeOf(refused.body)], [400, "validation_failed"])
      })
    )
  )

  it.live("are shown whole: each attempt with request and answer, the body, and what is signed", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { sequence } = yield* publishEvent
        const nowMs = yield* Clock.currentTimeMillis
        const deliveryId = randomUUID()
        const headers = {
          "webhook-id": deliveryId,
          "webhook-timestamp": "1795176000",
          "X-Service-Event": "queue.paused"
        }
        const common = { deliveryId, sequence, requestHeaders: headers, responseHeaders: { server: "slow/1" } }
        const first = attempted("demo", "failed", { ...common, nextAttemptAt: isoTime(nowMs) })
        const second = attempted("demo", "failed", {
          ...common,
          attempt: 2,
          previousEndedAt: nowMs,
          nextAttemptAt: isoTime(nowMs)
        })
        const third = attempted("demo", "delivered", { deliveryId, sequence, attempt: 3, previousEndedAt: nowMs })
        yield* write(attempted("demo", "failed"), first)
        yield* write(second)
        yield* write(attempted("demo", "delivered"), third)

        for (const near of ["", "?near=1.1", "?near=2.0", "?near=3.1"]) {
          const { status, body } = yield* call(`GET /deliveries/${deliveryId}${near}`)
          assert.strictEqual(status, 200, near)
          const attempts = body["attempts"] as ReadonlyArray<Json>
          assert.deepStrictEqual(
            attempts.map(({ attempt, outcome, place }) => [attempt, outcome, place]),
            [
              [1, "failed", "1.1"],
              [2, "failed", "2.0"],
              [3, "delivered", "3.1"]
            ],
            near
          )
          assert.include(body, { isComplete: true, nextAttemptAt: null, body: envelopeText, eventSequence: sequence })
          assert.deepStrictEqual(attempts[0]?.["requestHeaders"], headers)
          assert.include(attempts[0], { responseBody: "no room" })
        }
        const { body } = yield* call(`GET /deliveries/${deliveryId}`, {
          token: yield* tokenOf("viewer", "console:read")
        })
        assert.include(body, { body: null, signedTexts: null })
        for (const attempt of body["attempts"] as ReadonlyArray<Json>) {
          assert.include(attempt, { requestHeaders: null, responseHeaders: null, responseBody: null })
        }
        const elsewhere = yield* call(`GET /deliveries/${randomUUID()}?near=1.1`)
        assert.strictEqual(elsewhere.status, 404)
      })
    )
  )

  it.live("are found by their id wherever the log has them, and a search that ended in time continues", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const [oldest, middle] = [attempted("demo", "failed"), attempted("demo", "delivered")]
        const noise = attempted("demo", "delivered")
        yield* write(oldest)
        const others = (count: number) =>
          Effect.forEach(Array.from({ length: count }), () => write(noise), { concurrency: 64, discard: true })
        yield* others(700)
        yield* write(middle)
        yield* others(700)

        for (const { deliveryId } of [oldest, middle]) {
          const { status, body } = yield* call(`GET /deliveries/${deliveryId}`)
          assert.deepStrictEqual([status, body["deliveryId"]], [200, deliveryId])
        }
        const unknown = yield* call(`GET /deliveries/${randomUUID()}`)
        assert.strictEqual(unknown.status, 404)
        assert.deepInclude(unknown.body["error"], { details: { lookedAt: 1_402, messages: 1_402 } })

        const first = yield* searchBack(oldest.deliveryId, { before: undefined, withinMs: 0 })
        assert.deepInclude(first, { line: Option.none(), lookedAt: 1_024, messages: 1_402, next: 379 })
        const second = yield* searchBack(oldest.deliveryId, { before: first.next, withinMs: 0 })
        assert.deepInclude(second, { lookedAt: 1_402, next: undefined })
        assert.strictEqual(Option.getOrUndefined(second.line)?.sequence, 1)
        const onwards = yield* call(`GET /deliveries/${oldest.deliveryId}?before=379`)
        assert.strictEqual(onwards.status, 200)
        const past = yield* call(`GET /deliveries/${middle.deliveryId}?before=379`)
        assert.strictEqual(past.status, 404)
      })
    )
  )

  it.live("say that they are incomplete where an attempt is missing", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const line = attempted("demo", "failed", { attempt: 2, previousEndedAt: 1_795_176_000_000 })
        yield* write(line)
        const { body } = yield* call(`GET /deliveries/${line.deliveryId}`)
        assert.include(body, { isComplete: false, body: null })
        assert.lengthOf(body["attempts"] as ReadonlyArray<Json>, 1)
      })
    )
  )

  it.live("are sent again as new deliveries of the same event that name the old one", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { sequence } = yield* publishEvent
          const line = attempted("demo", "delivered", { sequence })
          yield* write(line)

          const sent = yield* call(`POST /deliveries/${line.deliveryId}/resend`, { body: because })
          assert.strictEqual(sent.status, 200)
          const message = Option.getOrThrow(yield* dueTo("demo"))
          assert.strictEqual(new TextDecoder().decode(message.data), envelopeText)
          const due = dueDeliveryCodec.decode(message)
          assert.isTrue(due._tag === "Success")
          if (due._tag === "Success") {
            assert.include(due.success.delivery, { redriveOf: line.deliveryId, attempt: 1, sequence })
            assert.strictEqual(due.success.delivery.deliveryId, sent.body["deliveryId"])
          }
          assert.include(itemsOf((yield* call("GET /audit")).body)[0], {
            action: "delivery-resend",
            target: line.deliveryId
          })
          const forgotten = attempted("demo", "failed", { sequence: 99_999 })
          yield* write(forgotten)
          const refused = yield* call(`POST /deliveries/${forgotten.deliveryId}/resend`, { body: because })
          assert.deepStrictEqual([refused.status, codeOf(refused.body)], [409, "conflict"])
          const gone = attempted("gone", "failed", { sequence })
          yield* write(gone)
          const unsent = yield* call(`POST /deliveries/${gone.deliveryId}/resend`, { body: because })
          assert.deepStrictEqual([unsent.status, codeOf(unsent.body)], [409, "conflict"])
          const chosen = yield* call("POST /deliveries/resend", { body: { ...because, places: ["3.0"] } })
          assert.deepStrictEqual(chosen.body, { count: 0, dryRun: false })
        }),
      configured("demo")
    )
  )

  it.live("are sent again once by two calls with the same key, and twice by two without", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { sequence } = yield* publishEvent
          const line = attempted("demo", "delivered", { sequence })
          yield* write(line)
          const reader = yield* StreamReader
          const due = Effect.map(reader.bounds("DELIVERIES"), ({ messages }) => messages)
          const headers = { "idempotency-key": "ticket-4711" }

          const keyed = () => call(`POST /deliveries/${line.deliveryId}/resend`, { body: because, headers })
          const [first, second] = [yield* keyed(), yield* keyed()]
          assert.strictEqual(first.status, 200)
          assert.deepStrictEqual(second.body, first.body)
          assert.strictEqual(yield* due, 1)
          const many = { ...because, places: ["1.0"] }
          yield* call("POST /deliveries/resend", { body: many, headers })
          assert.strictEqual(yield* due, 1)
          const unkeyed = () => call(`POST /deliveries/${line.deliveryId}/resend`, { body: because })
          const ids = [yield* unkeyed(), yield* unkeyed()].map(({ body }) => body["deliveryId"])
          assert.strictEqual(new Set([...ids, first.body["deliveryId"]]).size, 3)
          assert.strictEqual(yield* due, 3)
          const endless = yield* call(`POST /deliveries/${line.deliveryId}/resend`, {
            body: because,
            headers: { "idempotency-key": "x".repeat(256) }
          })
          assert.deepStrictEqual([endless.status, codeOf(endless.body)], [400, "validation_failed"])
        }),
      configured("demo")
    )
  )

  it.live("are sent again all since a time, each once, after a dry run that says how many", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { sequence } = yield* publishEvent
          const nowMs = yield* Clock.currentTimeMillis
          const startedAt = isoTime(nowMs)
          const one = attempted("demo", "failed", { sequence, startedAt })
          yield* write(one, { ...one, attempt: 2 }, attempted("demo", "failed", { sequence, startedAt }))
          yield* write(attempted("demo", "delivered", { sequence, startedAt }))
          yield* write(attempted("other", "failed", { sequence, startedAt }))
          const since = isoTime(nowMs - 60_000)
          const selection = { ...because, endpoint: "demo", outcome: "failed", since }

          const dry = yield* call("POST /deliveries/resend", { body: { ...selection, dryRun: true } })
          assert.deepStrictEqual(dry.body, { count: 2, dryRun: true })
          assert.isTrue(Option.isNone(yield* dueTo("demo")))
          const sent = yield* call("POST /deliveries/resend", { body: selection })
          assert.deepStrictEqual(sent.body, { count: 2, dryRun: false })
          const chosen = yield* call("POST /deliveries/resend", { body: { ...because, places: ["1.0", "1.1", "3.0"] } })
          assert.deepStrictEqual(chosen.body, { count: 2, dryRun: false })
          assert.lengthOf(itemsOf((yield* call("GET /audit")).body), 2)
          const vague = yield* call("POST /deliveries/resend", { body: { ...because, endpoint: "demo" } })
          assert.strictEqual(vague.status, 400)
          const unknown = yield* call("POST /deliveries/resend", { body: { ...selection, endpoint: "demmo" } })
          assert.strictEqual(unknown.status, 400)
        }),
      configured("demo", "other")
    )
  )
})
