import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type BatchMessage, header, Publisher } from "#bus"
import { withBus } from "../../support/bus.ts"

const told = (id: string): BatchMessage => ({
  subject: "events.project.queue_paused",
  data: new TextEncoder().encode("{}"),
  headers: [[header.messageId, id]]
})

describe("a batch", () => {
  it.live("is a conflict when a twin stored one of its messages before, for whoever reads on finds it", () =>
    withBus(() =>
      Effect.gen(function* () {
        const publisher = yield* Publisher
        const { sequence } = yield* publisher.publishRaw("events.project.queue_paused", told("log.7.0").data, {
          messageId: "log.7.0"
        })

        const late = yield* Effect.flip(publisher.publishTogether([told("log.7.0"), told("log.8.0")]))
        assert.strictEqual(late._tag, "RevisionConflict")

        // Nothing of it was stored.
        assert.strictEqual(yield* publisher.publishTogether([told("log.8.0"), told("log.9.0")]), sequence + 2)
      })
    )
  )
})
