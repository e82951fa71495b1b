import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { StreamReader } from "#bus"
import { deliveryPartitions, endpointIdOf, partitionOf } from "#webhooks/contract"
import { subjects } from "#base"
import { dueDeliveryCodec } from "#webhooks"
import {
  abandon,
  because,
  type Call,
  codeOf,
  configured,
  envelopeText,
  itemsOf,
  tokenOf,
  withConsole
} from "../../../support/console.ts"

const listed = (call: Call, query = "") =>
  Effect.map(call(`GET /abandoned${query}`), ({ body }) => itemsOf(body).map(({ sequence }) => sequence))

const dueTo = (endpoint: string) => {
  const id = endpointIdOf(endpoint)
  const subject = subjects.deliveries(0).due(partitionOf(id, deliveryPartitions), id)
  return Effect.flatMap(StreamReader, (reader) => reader.last("DELIVERIES", subject))
}

describe("abandoned deliveries on the console", () => {
  it.live("are listed newest first, by endpoint, in pages that leave none out", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        for (let index = 0; index < 5; index += 1) yield* abandon(index % 2 === 0 ? "even" : "odd")

        assert.deepStrictEqual(yield* listed(call), [5, 4, 3, 2, 1])
        assert.deepStrictEqual(yield* listed(call, "?endpoint=odd"), [4, 2])
        assert.deepStrictEqual(yield* listed(call, "?endpoint=none"), [])
        const first = yield* call("GET /abandoned?endpoint=even&limit=2")
        assert.deepStrictEqual(
          itemsOf(first.body).map(({ sequence }) => sequence),
          [5, 3]
        )
        assert.deepStrictEqual(
          yield* listed(call, `?endpoint=even&limit=2&cursor=${String(first.body["nextCursor"])}`),
          [1]
        )
      })
    )
  )

  it.live("tell why each was abandoned, and its body only to a token that may read payloads", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { sequence, delivery } = yield* abandon("demo")

        const { body } = yield* call(`GET /abandoned/${sequence}`)
        assert.include(body, {
          deliveryId: delivery.deliveryId,
          endpoint: "demo",
          event: "queue.paused",
          eventSequence: 7,
          reason: "no attempt is left",
          attempts: 3,
          lastStatus: 500,
          body: envelopeText
        })
        const narrow = yield* tokenOf("viewer", "console:read")
        const seen = yield* call(`GET /abandoned/${sequence}`, { token: narrow })
        assert.deepStrictEqual([seen.status, seen.body["body"]], [200, null])
      })
    )
  )

  it.live("are sent again one by one: a new delivery names the old one, which leaves the list", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const { sequence, delivery } = yield* abandon("demo")

          const sent = yield* call(`POST /abandoned/${sequence}/resend`, { body: because })
          assert.strictEqual(sent.status, 200)
          const due = dueDeliveryCodec.decode(Option.getOrThrow(yield* dueTo("demo")))
          assert.isTrue(due._tag === "Success")
          if (due._tag === "Success") {
            assert.include(due.success.delivery, { redriveOf: delivery.deliveryId, attempt: 1 })
            assert.strictEqual(due.success.delivery.deliveryId, sent.body["deliveryId"])
          }
          assert.deepStrictEqual(yield* listed(call), [])
          const again = yield* call(`POST /abandoned/${sequence}/resend`, { body: because })
          assert.strictEqual(again.status, 404)
        }),
      configured("demo")
    )
  )

  it.live("stay where they are while their endpoint is gone, and can be discarded", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          const gone = yield* abandon("gone")
          const known = yield* abandon("demo")

          const one = yield* call(`POST /abandoned/${gone.sequence}/resend`, { body: because })
          assert.deepStrictEqual([one.status, codeOf(one.body)], [409, "conflict"])
          const named = yield* call("POST /abandoned/resend", { body: { ...because, endpoint: "gone" } })
          assert.deepStrictEqual([named.status, codeOf(named.body)], [400, "validation_failed"])
          assert.lengthOf(yield* listed(call), 2)
          assert.deepStrictEqual(itemsOf((yield* call("GET /audit")).body), [])
          const all = yield* call("POST /abandoned/resend", { body: because })
          assert.deepStrictEqual(all.body, { count: 1, dryRun: false })
          assert.deepStrictEqual(yield* listed(call), [gone.sequence])
          assert.isTrue(Option.isSome(yield* dueTo("demo")), String(known.sequence))
          const discarded = yield* call(`POST /abandoned/${gone.sequence}/discard`, { body: because })
          assert.strictEqual(discarded.status, 204)
          assert.deepStrictEqual(yield* listed(call), [])
        }),
      configured("demo")
    )
  )

  it.live("are sent again by a selection, after a dry run that says how many and sends none", () =>
    withConsole(
      (call) =>
        Effect.gen(function* () {
          for (const endpoint of ["a", "b", "a"]) yield* abandon(endpoint)
          const selection = { ...because, endpoint: "a" }

          const dry = yield* call("POST /abandoned/resend", { body: { ...selection, dryRun: true } })
          assert.deepStrictEqual(dry.body, { count: 2, dryRun: true })
          assert.lengthOf(yield* listed(call), 3)
          assert.deepStrictEqual(itemsOf((yield* call("GET /audit")).body), [])
          const sent = yield* call("POST /abandoned/resend", { body: selection })
          assert.deepStrictEqual(sent.body, { count: 2, dryRun: false })
          assert.deepStrictEqual(yield* listed(call), [2])
        }),
      configured("a", "b")
    )
  )

  it.live("are discarded permanently, and the audit log says by whom and why", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const { sequence, delivery } = yield* abandon("demo")

        const gone = yield* call(`POST /abandoned/${sequence}/discard`, { body: { reason: "its receiver is gone" } })
        assert.strictEqual(gone.status, 204)
        assert.deepStrictEqual(yield* listed(call), [])
        const [entry] = itemsOf((yield* call("GET /audit?action=abandoned-discard")).body)
        assert.include(entry, {
          action: "abandoned-discard",
          target: `${sequence} ${delivery.deliveryId}`,
          reason: "its receiver is gone"
        })
        assert.include(entry?.["by"], { workspace: "default", role: "owner" })
        assert.deepStrictEqual(itemsOf((yield* call("GET /audit?action=rejected-discard")).body), [])
      })
    )
  )
})
