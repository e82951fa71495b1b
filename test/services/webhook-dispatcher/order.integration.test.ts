import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publishMany, sequencesTo, setUp } from "../../support/webhooks.ts"

const eventsCount = 300
// They leave in order; of requests on different connections neighbours may be read the other way round. Where each
// leaves as it comes, some arrive more than ten places from their own.
const placesMax = 4

describe("events of one work item, sixteen of them under way at once", () => {
  it.live("arrive in order, all of them", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), Concurrency: 16 }] },
        Effect.gen(function* () {
          const published = yield* publishMany("work_item.merged", eventsCount)
          yield* arrived(receiver, "/a", eventsCount)
          const got = sequencesTo(receiver, "/a")
          const inOrder = published.toSorted((left, right) => left - right)
          assert.sameMembers(got, inOrder)
          for (const [place, sequence] of got.entries()) {
            assert.isAtMost(Math.abs(inOrder.indexOf(sequence) - place), placesMax, `event ${sequence}: ${got.join()}`)
          }
        })
      )
    })
  )
})
