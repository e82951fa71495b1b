import type { IncomingHttpHeaders } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import { signBody, WebhookEndpoints } from "#webhooks"
import { Metrics } from "#runtime"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import {
  abandonments,
  arrived,
  publish,
  requestsTo,
  sequencesTo,
  setUp,
  steadily,
  stream
} from "../../../support/webhooks.ts"
import { operator } from "../../../support/operator.ts"

const by = "tester"
const administered = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provide(test, operator)
const utf8 = new TextEncoder()

describe("an endpoint made at run time", () => {
  for (const [mode, PartitionsAbove] of [
    ["with a consumer of its own", 200],
    ["that shares a consumer", 0]
  ] as const) {
    describe(mode, () => {
      const delivery = { PartitionsAbove }

      it.live("gets every event after the answer of its making, under steady events and beside one of the file", () =>
        Effect.gen(function* () {
          const { server, receiver } = yield* setUp
          const endpoints = [{ Name: "file", Url: receiver.url("/file") }]
          yield* whileDispatching(
            server,
            { endpoints, delivery },
            administered(
              Effect.gen(function* () {
                const steady = yield* steadily()
                const at = yield* WebhookEndpoints
                // One at a time, so that the first to arrive is the first sent.
                const settings = { Name: "made", Url: receiver.url("/made"), Concurrency: 1 }
                const made = yield* at.create({ settings, by })
                const atAnswer = steady.newest()
                yield* steady.after(50)
                const last = yield* steady.stop
                const wanted = Array.from(
                  { length: last - made.startsAfter },
                  (_, index) => made.startsAfter + 1 + index
                )
                const got = () => new Set(sequencesTo(receiver, "/made"))
                // One at a time, each after its answer.
                yield* eventually(() => wanted.every((sequence) => got().has(sequence)), { withinMs: 60_000 })
                yield* arrived(receiver, "/file", last)
                const sequences = sequencesTo(receiver, "/made")
                assert.isAtMost(made.startsAfter, atAnswer)
                assert.strictEqual(sequences[0], made.startsAfter + 1)
                // The same again is no second endpoint.
                const again = yield* at.create({ settings, by })
                assert.deepStrictEqual(again, made)
              })
            )
          )
        })
      )

      it.live("is sent nothing after the answer of its removal, and its deliveries go to ABANDONED", () =>
        Effect.gen(function* () {
          const { server, receiver } = yield* setUp
          yield* whileDispatching(
            server,
            { endpoints: [], delivery },
            administered(
              Effect.gen(function* () {
                const at = yield* WebhookEndpoints
                receiver.answer("/goes", (nth) => (nth % 7 === 0 ? 503 : nth % 5 === 0 ? "hang" : 204))
                const settings = {
                  Name: "goes",
                  Url: receiver.url("/goes"),
                  Concurrency: 4,
                  InitialBackoffSeconds: 0.3
                }
                yield* at.create({ settings, by })
                yield* at.create({ settings: { Name: "stays", Url: receiver.url("/stays") }, by })
                const steady = yield* steadily()
                yield* arrived(receiver, "/goes", 10)
                assert.isTrue(yield* at.remove({ name: "goes", by }))
                yield* receiver.upToDate
                const sent = requestsTo(receiver, "/goes").length
                yield* steady.after(100)
                yield* steady.stop
                assert.strictEqual(requestsTo(receiver, "/goes").length, sent)
                yield* eventually(stream("DELIVERIES"), {
                  is: (all) => all.every(({ subject }) => !subject.startsWith("deliveries.due"))
                })
                const reasons = yield* abandonments
                assert.isAbove(reasons.length, 0)
                for (const { reason } of reasons) assert.strictEqual(reason, "the endpoint was removed")
                const seriesOf = (name: string) =>
                  Effect.map(
                    Effect.flatMap(Metrics, ({ text }) => text),
                    (text) => text.split("\n").filter((line) => line.includes(`endpoint="${name}"`))
                  )
                const gauges =
                  /^webhook_(?:in_flight|backlog|oldest_due|parked_events|circuit|endpoint_paused|backoff_current)/u
                yield* eventually(seriesOf("goes"), { is: (lines) => !lines.some((line) => gauges.test(line)) })
                // Its counts stay until they were read; every answered attempt is among them.
                const answered = (yield* seriesOf("goes")).filter((line) => /attempts_total.*"[25]xx"/u.test(line))
                const sum = answered.reduce((all, line) => all + Number(line.split(" ").at(-1)), 0)
                assert.isAbove(sum, 0)
                assert.isAtMost(sum, sent)
                assert.lengthOf(
                  (yield* seriesOf("stays")).filter((line) => gauges.test(line)),
                  6
                )
                // Again is no fault, and the name is free.
                assert.isFalse(yield* at.remove({ name: "goes", by }))
                receiver.answer("/goes", () => 204)
                const back = yield* at.create({ settings, by })
                const first = yield* publish("work_item.done")
                yield* eventually(() => sequencesTo(receiver, "/goes").at(-1), { is: first })
                assert.isAtLeast(first, back.startsAfter + 1)
              })
            )
          )
        })
      )

      it.live("is sent nothing after it was disabled, and gets all it missed when it is enabled", () =>
        Effect.gen(function* () {
          const { server, receiver } = yield* setUp
          yield* whileDispatching(
            server,
            { endpoints: [], delivery },
            administered(
              Effect.gen(function* () {
                const at = yield* WebhookEndpoints
                yield* at.create({ settings: { Name: "a", Url: receiver.url("/a") }, by })
                yield* publish("work_item.working")
                yield* arrived(receiver, "/a", 1)
                const disabled = yield* at.disable({ name: "a", by })
                assert.isFalse(disabled.isEnabled)
                for (let count = 0; count < 5; count++) yield* publish("work_item.merged")
                yield* at.create({ settings: { Name: "b", Url: receiver.url("/b") }, by })
                yield* publish("work_item.done")
                yield* arrived(receiver, "/b", 1)
                assert.strictEqual(requestsTo(receiver, "/a").length, 1)
                yield* at.enable({ name: "a", by })
                yield* arrived(receiver, "/a", 7)
                assert.strictEqual(new Set(sequencesTo(receiver, "/a")).size, 7)
              })
            )
          )
        })
      )

      it.live("continues with other settings within a second, and loses nothing of what it waits for", () =>
        Effect.gen(function* () {
          const { server, receiver } = yield* setUp
          yield* whileDispatching(
            server,
            { endpoints: [], delivery },
            administered(
              Effect.gen(function* () {
                const at = yield* WebhookEndpoints
                receiver.answer("/old", () => 500)
                const settings = { Name: "a", Url: receiver.url("/old"), InitialBackoffSeconds: 1, MaxAttempts: 5 }
                const made = yield* at.create({ settings, by })
                const sequence = yield* publish("work_item.merged")
                yield* arrived(receiver, "/old", 1)
                const changes = { Url: receiver.url("/new"), Headers: { "X-Tenant": "seven" }, Concurrency: 2 }
                const changed = yield* at.change({ name: "a", revision: made.revision, changes, by })
                assert.deepStrictEqual(changed.headerNames, ["X-Tenant"])
                yield* arrived(receiver, "/new", 1)
                assert.deepStrictEqual(sequencesTo(receiver, "/new"), [sequence])
                assert.strictEqual(requestsTo(receiver, "/new")[0]?.headers["x-tenant"], "seven")
                const late = yield* Effect.flip(
                  at.change({ name: "a", revision: made.revision, changes: { Concurrency: 9 }, by })
                )
                assert.strictEqual(late._tag, "EndpointWasChanged")
                const again = yield* at.change({ name: "a", revision: made.revision, changes, by })
                assert.strictEqual(again.revision, changed.revision)
              })
            )
          )
        })
      )
    })
  }

  it.live(
    "has each delivery verified by the old or the new secret while they rotate, and by both for the overlap",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        yield* whileDispatching(
          server,
          { endpoints: [] },
          administered(
            Effect.gen(function* () {
              const at = yield* WebhookEndpoints
              const [oldSecret, newSecret] = ["old-secret-of-sixteen", "new-secret-of-sixteen"]
              const [oldKey, newKey] = ["old", "new"].map(
                (text) => `whsec_${Buffer.from(`${text} key of at least 24 bytes`).toString("base64")}`
              )
              if (oldKey === undefined || newKey === undefined) return assert.fail("two keys")
              const settings = { Name: "a", Url: receiver.url("/a") }
              yield* at.create({ settings, secret: oldSecret, standardWebhooksSecret: oldKey, by })
              const steady = yield* steadily()
              yield* arrived(receiver, "/a", 20)
              const rotation = { name: "a", secret: newSecret, standardWebhooksSecret: newKey, overlapMs: 2_000, by }
              const rotated = yield* at.rotate(rotation)
              assert.isNotNull(rotated.previousSecretUntilMs)
              assert.notInclude(JSON.stringify(rotated), newSecret)
              assert.deepStrictEqual(yield* at.rotate(rotation), rotated)
              const both = () =>
                requestsTo(receiver, "/a").filter(
                  ({ headers }) => headers["x-service-signature-previous"] !== undefined
                )
              yield* eventually(() => both().length, { is: (length) => length > 20 })
              // As the dispatcher says it, and signs it; a busy receiver hears of it later.
              const signedAtMs = (headers: IncomingHttpHeaders) => Number(headers["webhook-timestamp"]) * 1_000
              const isOver = () => {
                const newest = requestsTo(receiver, "/a").at(-1)
                return newest !== undefined && signedAtMs(newest.headers) > (rotated.previousSecretUntilMs ?? 0)
              }
              yield* eventually(isOver)
              yield* steady.stop
              const signs = (secret: string, body: string, header: unknown) =>
                signBody(secret, utf8.encode(body)) === header
              for (const { headers, body } of requestsTo(receiver, "/a")) {
                const signature = headers["x-service-signature"]
                assert.isTrue(signs(oldSecret, body, signature) || signs(newSecret, body, signature))
                const previous = headers["x-service-signature-previous"]
                if (previous !== undefined) {
                  assert.isTrue(signs(oldSecret, body, previous))
                  assert.isBelow(signedAtMs(headers), rotated.previousSecretUntilMs ?? 0)
                }
                const given = { ...headers } as Record<string, string>
                const verifies = [oldKey, newKey].filter((key) => {
                  try {
                    return new Webhook(key).verify(body, given) !== undefined
                  } catch {
                    return false
                  }
                })
                assert.strictEqual(verifies.length, previous === undefined ? 1 : 2)
              }
              // The old one is gone by itself, from the bucket too.
              yield* eventually(at.get("a"), { is: (shown) => shown.previousSecretUntilMs === null })
            })
          )
        )
      })
  )
})
