import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { redrive } from "#webhooks"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import type { TestReceiver } from "../../support/receiver.ts"
import { abandoned, arrived, eventsTo, publish, requestsTo, setUp, stream } from "../../support/webhooks.ts"

const endpoints = (receiver: TestReceiver) =>
  ["a", "b"].map((Name) => ({ Name, Url: receiver.url(`/${Name}`), MaxAttempts: 1 }))

/** Gives up one delivery per event and endpoint, one event after the other; the receivers are well afterwards. */
const giveUp = (receiver: TestReceiver, events: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    for (const path of ["/a", "/b"]) receiver.answer(path, () => 500)
    const before = (yield* stream("ABANDONED")).length
    for (const [index, event] of events.entries()) {
      yield* publish(event)
      yield* abandoned(before + 2 * (index + 1))
    }
    for (const path of ["/a", "/b"]) receiver.answer(path, () => 204)
    receiver.requests.length = 0
  })

const all = { endpoint: undefined, events: [], countMax: 1_000 }

describe("a redrive", () => {
  it.live("by event sends it again to every endpoint that missed it, and to no other", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: endpoints(receiver) },
        Effect.gen(function* () {
          yield* giveUp(receiver, ["work_item.merged", "queue.paused", "queue.resumed", "work_item.done"])
          assert.strictEqual(yield* redrive({ ...all, events: ["queue.*"] }), 4)
          yield* arrived(receiver, "/a", 2)
          yield* arrived(receiver, "/b", 2)
          assert.sameMembers(eventsTo(receiver, "/a"), ["queue.paused", "queue.resumed"])
          yield* abandoned(4)
          assert.strictEqual(yield* redrive({ ...all, events: ["queue.*"] }), 0)
          assert.strictEqual(yield* redrive({ ...all, endpoint: "b", events: ["work_item.done", "queue.*"] }), 1)
          yield* arrived(receiver, "/b", 3)
          assert.strictEqual(eventsTo(receiver, "/b").at(-1), "work_item.done")
          yield* abandoned(3)
        })
      )
    })
  )

  it.live("by time sends deliveries again that were abandoned within it", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: endpoints(receiver).slice(0, 1) },
        Effect.gen(function* () {
          receiver.answer("/a", () => 500)
          for (const [index, event] of ["work_item.working", "work_item.merged", "work_item.done"].entries()) {
            yield* publish(event)
            yield* abandoned(index + 1)
          }
          receiver.answer("/a", () => 204)
          receiver.requests.length = 0
          const [first = 0, second = 0, third = 0] = (yield* stream("ABANDONED")).map(({ storedAtMs }) => storedAtMs)

          assert.strictEqual(yield* redrive({ ...all, untilMs: first - 1 }), 0)
          assert.strictEqual(yield* redrive({ ...all, sinceMs: third + 1 }), 0)
          assert.strictEqual(yield* redrive({ ...all, sinceMs: second, untilMs: second }), 1)
          yield* arrived(receiver, "/a", 1)
          assert.deepStrictEqual(eventsTo(receiver, "/a"), ["work_item.merged"])
          assert.strictEqual(yield* redrive({ ...all, sinceMs: first + 1 }), 1)
          yield* arrived(receiver, "/a", 2)
          assert.strictEqual(eventsTo(receiver, "/a").at(-1), "work_item.done")
          assert.strictEqual(yield* redrive({ ...all, untilMs: third }), 1)
          yield* abandoned(0)
        })
      )
    })
  )

  it.live("sends no more than its limit, the oldest first", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: endpoints(receiver) },
        Effect.gen(function* () {
          yield* giveUp(receiver, ["work_item.working", "work_item.merged", "work_item.done", "work_item.failed"])
          assert.strictEqual(yield* redrive({ ...all, endpoint: "a", countMax: 2 }), 2)
          yield* arrived(receiver, "/a", 2)
          yield* eventually(stream("DELIVERIES"), {
            is: (left) => left.every(({ subject }) => !subject.includes(".due."))
          })
          assert.sameMembers(eventsTo(receiver, "/a"), ["work_item.working", "work_item.merged"])
          assert.strictEqual((yield* stream("ABANDONED")).length, 6)
          assert.strictEqual(requestsTo(receiver, "/b").length, 0)
        })
      )
    })
  )
})
