import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Publisher, StreamReader } from "#bus"
import { endpointIdOf } from "#webhooks/contract"
import { subjects } from "#base"
import { deliveryHeaders, dueSubject, readAbandoned, redrive, WebhookEndpoints } from "#webhooks"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import { abandoned, abandonments, arrived, publish, sequencesTo, setUp, stream } from "../../../support/webhooks.ts"
import { operator } from "../../../support/operator.ts"

const by = "tester"

/** What waits for a receiver that hangs is put away when its endpoint is removed. */
const putAway = Effect.gen(function* () {
  yield* eventually(stream("ABANDONED"), { is: (all) => all.length > 0 })
  const [found] = (yield* stream("ABANDONED")).flatMap((message) => Option.toArray(readAbandoned(message)))
  return found?.due ?? assert.fail("one was put away")
})

describe("an endpoint that was removed and made again under its name", () => {
  for (const [how, PartitionsAbove] of [
    ["with a consumer of its own", 10],
    ["with a shared consumer", 0]
  ] as const) {
    it.live(`${how} is sent nothing from before its making, however late it comes`, () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        receiver.answer("/first", () => "hang")
        const test = Effect.gen(function* () {
          const at = yield* WebhookEndpoints
          yield* at.create({ settings: { Name: "a", Url: receiver.url("/first") }, by })
          yield* publish("work_item.working")
          yield* arrived(receiver, "/first", 1)
          yield* at.remove({ name: "a", by })
          const { delivery, body } = yield* putAway
          yield* at.create({ settings: { Name: "a", Url: receiver.url("/second") }, by })
          // As a dispatcher stores it that was slow to put it off, or to pass it on to another lane.
          yield* (yield* Publisher).publishRaw(dueSubject(endpointIdOf("a"), 1), body, {
            headers: deliveryHeaders(delivery)
          })
          const second = yield* publish("work_item.done")
          yield* arrived(receiver, "/second", 1)
          yield* eventually((yield* StreamReader).countBySubject("DELIVERIES", subjects.deliveries(0).dueAll), {
            is: (due) => Object.keys(due).length === 0
          })
          assert.deepStrictEqual(sequencesTo(receiver, "/second"), [second])
          for (const { reason } of yield* abandonments) assert.strictEqual(reason, "the endpoint was removed")
          // Who sends it again means the endpoint that is there.
          yield* redrive({ endpoint: "a", events: [], countMax: 1 })
          yield* arrived(receiver, "/second", 2)
          assert.deepStrictEqual(sequencesTo(receiver, "/second"), [second, delivery.sequence])
          yield* abandoned(0)
        })
        yield* whileDispatching(
          server,
          { endpoints: [], delivery: { PartitionsAbove } },
          Effect.provide(test, operator)
        )
      })
    )
  }
})

describe("an endpoint made in the place of one that left the configuration file", () => {
  it.live("gets what that one had yet to get", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", (nth) => (nth === 1 ? "hang" : 204))
      const endpoints = ["a", "b"].map((Name) => ({ Name, Url: receiver.url(`/${Name}`) }))
      const waiting = yield* whileDispatching(
        server,
        { endpoints },
        Effect.tap(publish("work_item.working"), () =>
          Effect.andThen(arrived(receiver, "/a", 1), arrived(receiver, "/b", 1))
        )
      )
      const test = Effect.gen(function* () {
        const parked = yield* publish("work_item.merged")
        yield* arrived(receiver, "/b", 2)
        const at = yield* WebhookEndpoints
        const { startsAfter } = yield* at.create({ settings: { Name: "a", Url: receiver.url("/a") }, by })
        assert.isAtLeast(startsAfter, parked)
        yield* arrived(receiver, "/a", 3)
        assert.sameMembers(sequencesTo(receiver, "/a").slice(1), [waiting, parked])
      })
      yield* whileDispatching(server, { endpoints: endpoints.slice(1) }, Effect.provide(test, operator))
    })
  )
})
