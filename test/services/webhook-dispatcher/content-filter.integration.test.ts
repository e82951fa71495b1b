import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { dispatcherOn, whileDispatching } from "../../support/dispatcher.ts"
import { arrived, eventsTo, publish, setUp } from "../../support/webhooks.ts"

describe("a filter on content", () => {
  it.live("lets those events through to the receiver that fit, and no others", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [
        { Name: "all", Url: receiver.url("/all") },
        {
          Name: "some",
          Url: receiver.url("/some"),
          EventFilter: ["work_item.*", "queue.*"],
          ContentFilter: { event: [{ suffix: ".merged" }, "queue.paused"], workItem: { id: [{ exists: true }] } }
        },
        { Name: "last", Url: receiver.url("/last"), ContentFilter: { event: ["release.closed"] } }
      ]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          const events = ["work_item.merged", "queue.paused", "work_item.done", "work_item.merged", "release.closed"]
          for (const event of events) yield* publish(event)
          yield* arrived(receiver, "/all", events.length)
          yield* arrived(receiver, "/some", 2)
          yield* arrived(receiver, "/last", 1)
          assert.deepStrictEqual(eventsTo(receiver, "/some"), ["work_item.merged", "work_item.merged"])
          assert.deepStrictEqual(eventsTo(receiver, "/last"), ["release.closed"])
        })
      )
    })
  )

  it.live("that no event can pass is refused at the start, by its path and with the nearest name", () =>
    Effect.gen(function* () {
      const { server } = yield* setUp
      const url = "https://a.example/"
      const endpoints = [
        { Name: "a", Url: url, ContentFilter: { event: ["work_item.mergd"] } },
        { Name: "b", Url: url, ContentFilter: { $or: [{ event: ["queue.paused"] }, { projekt: ["p"] }] } },
        { Name: "c", Url: url, EventFilter: ["queue.*"], ContentFilter: { event: ["work_item.merged"] } }
      ]
      const error = yield* Effect.flip(Effect.scoped(Layer.build(dispatcherOn(server, { endpoints }))))
      assert.strictEqual(error._tag, "InvalidConfiguration")
      for (const part of [
        "Webhooks[0].ContentFilter.event[0]: there is no event work_item.mergd; did you mean work_item.merged?",
        "Webhooks[1].ContentFilter.$or[1].projekt: no envelope has this field; did you mean project?",
        "Webhooks[2].ContentFilter.event: fits no event that EventFilter chooses"
      ]) {
        assert.include(error.message, part)
      }
    })
  )
})
