import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { busOn } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, metric, publish, sequencesTo, setUp, stream } from "../../support/webhooks.ts"

const floodEvents = 6_000
const flood = Effect.gen(function* () {
  const publisher = yield* Publisher
  const body = new TextEncoder().encode(
    JSON.stringify({ ...exampleEnvelope("work_item.merged"), event: "report.filed" })
  )
  const subject = subjects.eventFrom("internal-services", "report.filed")
  const file = Effect.map(publisher.publishRaw(subject, body), ({ sequence }) => sequence)
  return yield* Effect.all(
    Array.from({ length: floodEvents / 2 }, () => file),
    { concurrency: 256 }
  )
})

/** The sequences of the flood, and those of two events of the fleet: one in its midst, one at its end. */
const floodAroundOne = Effect.gen(function* () {
  const before = yield* flood
  const first = yield* publish("work_item.merged")
  const after = yield* flood
  const second = yield* publish("work_item.merged")
  const publisher = yield* Publisher
  yield* publisher.publishRaw(subjects.eventFrom("internal-services", "report.filed"), new Uint8Array(0))
  return { filed: [...before, ...after], first, second }
})

describe("a flood of events by one user of the broker", () => {
  it.live(
    "is overtaken by what the fleet publishes behind it, is named in a metric, and loses and repeats nothing",
    () =>
      Effect.gen(function* () {
        const { server, receiver } = yield* setUp
        const endpoints = [
          { Name: "own", Url: receiver.url("/own"), EventFilter: ["work_item.*"] },
          { Name: "all", Url: receiver.url("/all"), EventFilter: ["*"] }
        ]
        // From here on the events are the endpoints' own.
        yield* whileDispatching(server, { endpoints }, Effect.void)
        const { filed, first, second } = yield* Effect.provide(floodAroundOne, Layer.fresh(busOn(server)))
        yield* whileDispatching(
          server,
          { endpoints, events: { Undeclared: "deliver" } },
          Effect.gen(function* () {
            yield* arrived(receiver, "/own", 2)
            assert.isBelow(yield* metric("bus_relay_position", 'relay="fan-out"'), first, "the flood is still read")
            yield* arrived(receiver, "/all", floodEvents + 2, 60_000)
            yield* eventually(stream("REJECTED"), { is: (all) => all.length === 1 })
            assert.strictEqual(
              yield* metric("webhook_events_received_total", 'event="other"', 'publisher="internal-services"'),
              floodEvents + 1,
              "the broken one too"
            )
          })
        )
        assert.deepStrictEqual(sequencesTo(receiver, "/own"), [first, second])
        assert.sameMembers(sequencesTo(receiver, "/all"), [...filed, first, second])
        assert.lengthOf(sequencesTo(receiver, "/all"), floodEvents + 2)
      })
  )
})
