import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Metrics } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, metric, publish, publishMany, requestsTo, setUp, stream } from "../../support/webhooks.ts"

const conflicts = metric("bus_relay_conflicts_total", 'relay="fan-out"')
const delivered = metric("webhook_deliveries_total", 'outcome="delivered"')

describe("two dispatchers at once", () => {
  it.live("share the work and deliver each event once: the slower fan-out loses one write and stands by", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const options = { endpoints: [{ Name: "a", Url: receiver.url("/a"), Concurrency: 16 }] }
      const count = 300
      yield* whileDispatching(
        server,
        options,
        Effect.gen(function* () {
          const metrics = yield* Metrics
          const ofBoth = (counter: typeof conflicts) =>
            Effect.all([Effect.provideService(counter, Metrics, metrics), counter])
          yield* whileDispatching(
            server,
            options,
            Effect.gen(function* () {
              for (let index = 0; index < count / 2; index++) yield* publish("work_item.merged")
              yield* publishMany("work_item.done", count / 2)
              yield* arrived(receiver, "/a", count)
              const due = Effect.map(stream("DELIVERIES"), (all) =>
                all.filter(({ subject }) => subject.startsWith("deliveries.due.") || subject.includes(".wait."))
              )
              yield* eventually(due, { is: (all) => all.length === 0 })
              const ids = requestsTo(receiver, "/a").map(({ headers }) => headers["x-service-sequence"])
              assert.strictEqual(ids.length, count)
              assert.strictEqual(new Set(ids).size, count)
              const [lostByOne, lostByOther] = yield* ofBoth(conflicts)
              assert.isAbove(lostByOne + lostByOther, 0)
              // One, and one more for each half second that the machine held up the one that works.
              assert.isBelow(lostByOne + lostByOther, 10)
              const [byOne, byOther] = yield* ofBoth(delivered)
              assert.strictEqual(byOne + byOther, count)
              assert.isAbove(Math.min(byOne, byOther), 0)
            })
          )
        })
      )
    })
  )

  it.live("show the same state of a parked endpoint, even the one that only stands by", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const held: Array<ServerResponse> = []
      let isOpen = false
      receiver.answer("/slow", () => (isOpen ? 204 : (response) => void held.push(response)))
      const slow = { Name: "slow", Url: receiver.url("/slow"), BacklogMax: 10, Concurrency: 1, TimeoutSeconds: 60 }
      const options = { endpoints: [slow] }
      const parked = metric("webhook_parked_events", 'endpoint="slow"')
      const active = metric("bus_relay_active", 'relay="fan-out"')
      yield* whileDispatching(
        server,
        options,
        Effect.gen(function* () {
          const metrics = yield* Metrics
          const ofBoth = (gauge: typeof parked) => Effect.all([Effect.provideService(gauge, Metrics, metrics), gauge])
          yield* whileDispatching(
            server,
            options,
            Effect.gen(function* () {
              for (let count = 0; count < 40; count++) yield* publish("work_item.merged")
              yield* eventually(ofBoth(active), { is: ([one, other]) => one + other === 1 })
              // Ten go ahead, with the rest of the tenth's run.
              yield* eventually(ofBoth(parked), { is: ([one, other]) => one === other && one > 20 })

              isOpen = true
              for (const response of held) response.writeHead(204).end()
              yield* arrived(receiver, "/slow", 40)
              yield* eventually(ofBoth(parked), { is: ([one, other]) => one === 0 && other === 0 })
              assert.strictEqual(requestsTo(receiver, "/slow").length, 40)
            })
          )
        })
      )
    })
  )
})
