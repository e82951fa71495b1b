import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, metric, publish, sequencesTo, setUp, stream } from "../../support/webhooks.ts"

describe("an endpoint with a backlog above its BacklogMax", () => {
  it.live("is parked, loses nothing, and catches up in order when half of the backlog is gone", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const held: Array<ServerResponse> = []
      let isOpen = false
      receiver.answer("/slow", () => (isOpen ? 204 : (response) => void held.push(response)))
      const endpoints = [
        { Name: "slow", Url: receiver.url("/slow"), BacklogMax: 10, Concurrency: 1, TimeoutSeconds: 60 },
        { Name: "other", Url: receiver.url("/other") }
      ]
      const parked = metric("webhook_parked_events", 'endpoint="slow"')
      const waiting = Effect.map(stream("DELIVERIES"), (all) =>
        all.filter((message) => message.subject.startsWith("deliveries.due."))
      )
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          const sequences: Array<number> = []
          for (let count = 1; count <= 40; count++) {
            sequences.push(yield* publish("work_item.merged"))
            yield* arrived(receiver, "/other", count)
          }
          yield* eventually(parked, { is: (count) => count === 30 })
          // The healthy one got all; the slow one has ten in DELIVERIES, and the rest waits in EVENTS.
          yield* eventually(waiting, { is: (all) => all.length === 10 })
          assert.strictEqual(sequencesTo(receiver, "/slow").length, 1)

          // Four are taken, six are left: that is more than half of BacklogMax.
          for (let taken = 1; taken <= 4; taken++) {
            held.at(-1)?.writeHead(204).end()
            yield* arrived(receiver, "/slow", taken + 1)
          }
          yield* eventually(metric("webhook_backlog", 'endpoint="slow"'), { is: (count) => count === 6 })
          assert.strictEqual(yield* parked, 30)

          held.at(-1)?.writeHead(204).end()
          yield* eventually(parked, { is: (count) => count < 30 })
          yield* arrived(receiver, "/slow", 6)
          isOpen = true
          held.at(-1)?.writeHead(204).end()
          yield* arrived(receiver, "/slow", 40)
          assert.deepStrictEqual(sequencesTo(receiver, "/slow"), sequences)
          yield* eventually(parked, { is: (count) => count === 0 })
          yield* eventually(waiting, { is: (all) => all.length === 0 })
        })
      )
    })
  )
})
