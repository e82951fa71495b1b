import { assert, describe, it } from "@effect/vitest"
import { Effect, Latch } from "effect"
import { Consumers } from "#bus"
import { deliveryStream } from "#base"
import { endpointIdOf } from "#webhooks/contract"
import { dispatchersBehind, EndpointStates, openEndpointStore, openPresences, WebhookEndpoints } from "#webhooks"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, requestsTo, setUp } from "../../support/webhooks.ts"
import { operator } from "../../support/operator.ts"

const by = "tester"
const durableOf = (id: string) => `endpoint-${id}`

/** The dispatcher acts on every change of endpoints. */
const isActedOn = Effect.gen(function* () {
  const revision = yield* (yield* openEndpointStore).lastRevision
  return (yield* dispatchersBehind(yield* openPresences, revision)).length === 0
})

describe("an endpoint that the broker holds back", () => {
  it.live("gets its events when it was enabled before the broker had answered that it was disabled", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const [isAsked, mayAnswer] = [yield* Latch.make(false), yield* Latch.make(false)]
      const consumers = (real: Consumers["Service"]) => ({
        ...real,
        pause: (stream: string, name: string, untilMs: number) =>
          real
            .pause(stream, name, untilMs)
            .pipe(
              Effect.andThen(name === durableOf(endpointIdOf("a")) ? isAsked.open : Effect.void),
              Effect.andThen(mayAnswer.await)
            )
      })
      const test = Effect.gen(function* () {
        const at = yield* WebhookEndpoints
        yield* at.create({ settings: { Name: "a", Url: receiver.url("/a") }, by })
        yield* publish("work_item.working")
        yield* arrived(receiver, "/a", 1)
        yield* at.disable({ name: "a", by })
        yield* isAsked.await
        yield* at.enable({ name: "a", by })
        yield* eventually(isActedOn)
        yield* mayAnswer.open
        yield* publish("work_item.done")
        yield* arrived(receiver, "/a", 2)
      })
      yield* whileDispatching(server, { endpoints: [], consumers }, Effect.provide(test, operator))
    })
  )

  it.live(
    "continues, and one that is paused does not, whatever a dispatcher that was killed told the broker last",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const endpoints = ["a", "b"].map((Name) => ({ Name, Url: receiver.url(`/${Name}`) }))
        const [idA, idB] = [endpointIdOf("a"), endpointIdOf("b")]
        const test = Effect.gen(function* () {
          const consumers = yield* Consumers
          const isPaused = (id: string) =>
            Effect.map(
              consumers.backlog(deliveryStream(0), durableOf(id)),
              ({ pausedUntilMs }) => pausedUntilMs !== null
            )
          yield* (yield* EndpointStates).pause(idB, "b", { by, reason: "a test" })
          yield* eventually(isPaused(idB))
          yield* consumers.resume(deliveryStream(0), durableOf(idB))
          yield* consumers.pause(deliveryStream(0), durableOf(idA), Date.UTC(9999, 0, 1))
          yield* publish("work_item.done")
          yield* arrived(receiver, "/a", 1)
          yield* eventually(isPaused(idB))
          assert.lengthOf(requestsTo(receiver, "/b"), 0)
        })
        yield* whileDispatching(server, { endpoints }, Effect.provide(test, EndpointStates.layer))
      })
  )

  it.live("is served by a dispatcher that starts while another one removes its consumer", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      let removals = 0
      const consumers = (real: Consumers["Service"]) => ({
        ...real,
        resume: (stream: string, name: string) =>
          Effect.andThen(removals++ === 0 ? real.remove(stream, name) : Effect.void, real.resume(stream, name))
      })
      const test = Effect.gen(function* () {
        yield* publish("work_item.done")
        yield* arrived(receiver, "/a", 1)
      })
      yield* whileDispatching(server, { endpoints: [{ Name: "a", Url: receiver.url("/a") }], consumers }, test)
    })
  )
})
