import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option, Result, Stream } from "effect"
import { Publisher, StreamReader } from "#bus"
import { endpointIdOf } from "#webhooks/contract"
import { isoTime, subjects } from "#base"
import { dueDeliveryCodec } from "#webhooks"
import {
  abandon,
  because,
  type Call,
  codeOf,
  configured,
  envelopeText,
  itemsOf,
  type Json,
  withConsole
} from "../../../support/console.ts"
import { attempted, writeAttempts } from "../../../support/delivery-log.ts"

/** The deliveries that wait to be sent, in order. */
const due = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence: toSequence } = yield* reader.bounds("DELIVERIES")
  if (toSequence === 0) return []
  const messages = yield* Stream.runCollect(reader.range("DELIVERIES", { fromSequence: 1, toSequence }))
  return messages
    .flatMap((message) => Option.toArray(Result.getSuccess(dueDeliveryCodec.decode(message))))
    .map(({ delivery }) => delivery)
})

/** Attempts what waits, and fails: each delivery has a line, and is given up. */
const failAll = Effect.gen(function* () {
  const startedAt = isoTime(yield* Clock.currentTimeMillis)
  for (const { deliveryId, sequence } of yield* due) {
    yield* writeAttempts(attempted("demo", "failed", { deliveryId, sequence, startedAt }))
    yield* abandon("demo")
  }
})

const publishEvent = Effect.flatMap(Publisher, (publisher) =>
  publisher.publishRaw(subjects.event("queue.paused"), new TextEncoder().encode(envelopeText))
)

/** Two deliveries that failed, and two that were given up. */
const begin = Effect.gen(function* () {
  const { sequence } = yield* publishEvent
  const nowMs = yield* Clock.currentTimeMillis
  const lines = [1, 2].map(() => attempted("demo", "failed", { sequence, startedAt: isoTime(nowMs) }))
  yield* writeAttempts(...lines)
  yield* abandon("demo")
  yield* abandon("demo")
  return { since: isoTime(nowMs - 60_000), deliveryId: lines[0]?.deliveryId ?? "" }
})

type Begun = Effect.Success<typeof begin>

interface KeyedAct {
  readonly path: (begun: Begun) => string
  readonly body: (begun: Begun) => Json
  readonly sent: number
}

const path = (text: string) => () => text
const none = () => ({})
const filter = ({ since }: Begun) => ({ endpoint: "demo", outcome: "failed", since })

/** Every act that sends again, by a filter or by name. */
const acts: Readonly<Record<string, KeyedAct>> = {
  "deliveries of a filter": { path: path("/deliveries/resend"), body: filter, sent: 2 },
  "the oldest of a filter": {
    path: path("/deliveries/resend"),
    body: (begun) => ({ ...filter(begun), max: 1 }),
    sent: 1
  },
  "deliveries at places": { path: path("/deliveries/resend"), body: () => ({ places: ["1.0", "1.1"] }), sent: 2 },
  "a delivery": { path: ({ deliveryId }) => `/deliveries/${deliveryId}/resend`, body: none, sent: 1 },
  "abandoned ones of a filter": { path: path("/abandoned/resend"), body: () => ({ endpoint: "demo" }), sent: 2 },
  "the oldest abandoned one of a filter": {
    path: path("/abandoned/resend"),
    body: () => ({ endpoint: "demo", max: 1 }),
    sent: 1
  },
  "all abandoned ones": { path: path("/abandoned/resend"), body: none, sent: 2 },
  "an abandoned one": { path: path("/abandoned/1/resend"), body: none, sent: 1 }
}

const headers = { "idempotency-key": "ticket-4711" }

const audited = (call: Call) => Effect.map(call("GET /audit"), ({ body }) => itemsOf(body).length)
const given = Effect.flatMap(StreamReader, (reader) => reader.countBySubject("ABANDONED", subjects.abandonedAll))

describe("an act on the console with a key", () => {
  for (const [what, act] of Object.entries(acts)) {
    it.live(`sends ${what} once: what the first call sent and what came since is not part of it`, () =>
      withConsole(
        (call) =>
          Effect.gen(function* () {
            const begun = yield* begin
            const run = (reason: string) =>
              call(`POST ${act.path(begun)}`, { body: { ...act.body(begun), reason }, headers })
            const first = yield* run("it lost them")
            assert.strictEqual(first.status, 200)
            assert.lengthOf(yield* due, act.sent)
            yield* failAll

            const kept = { due: yield* due, abandoned: yield* given, audited: yield* audited(call) }
            assert.deepStrictEqual(yield* run("the answer was lost"), first)
            assert.deepStrictEqual({ due: yield* due, abandoned: yield* given, audited: yield* audited(call) }, kept)
          }),
        configured("demo")
      )
    )
  }

  it.live("is refused for another choice under its key, and a refused one leaves the key free", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const begun = yield* begin
          const resend = (changes: Json) =>
            call("POST /deliveries/resend", { body: { ...because, ...filter(begun), ...changes }, headers })
          assert.strictEqual((yield* resend({ endpoint: "demmo" })).status, 400)
          assert.deepStrictEqual((yield* resend({})).body, { count: 2, dryRun: false })
          const other = yield* resend({ max: 1 })
          assert.deepStrictEqual([other.status, codeOf(other.body)], [409, "idempotency_conflict"])
          // A dry run is no act.
          assert.deepInclude(yield* resend({ dryRun: true }), { status: 200, body: { count: 2, dryRun: true } })
          assert.lengthOf(yield* due, 2)
          const unknown = `POST /deliveries/${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}/resend`
          assert.strictEqual((yield* call(unknown, { body: because, headers })).status, 404)
        }),
      configured("demo")
    )
  )

  it.live("stands for its endpoint's deliveries alone", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { since } = yield* begin
          yield* writeAttempts(attempted("other", "failed", { startedAt: since }))
          yield* call("POST /deliveries/resend", { body: { ...because, endpoint: "demo", since }, headers })
          for (const { endpointId } of yield* due) assert.strictEqual(endpointId, endpointIdOf("demo"))
        }),
      configured("demo", "other")
    )
  )
})
