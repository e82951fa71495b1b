import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { createItem, eventsTold, type Json, metricsText, pickUp, withPipeline } from "../../../support/pipeline.ts"

const settings = { DiskGuard: { MinFreeBytes: 5_000, RetryAfterSeconds: 2 } }
const full = [
  { mountPath: "/", freeBytes: 5_000 },
  { mountPath: "/srv", freeBytes: 4_999 }
]
const ask = (runner: string, disks = full) => pickUp({ runner, waitMs: 0, disks })

const told = Effect.map(eventsTold, (events) => events.filter(({ event }) => event === "disk.deferred"))
const isListed = eventually(metricsText, { is: (text) => /^pipeline_ready_items\{.*\} 1$/mu.test(text) })
const timeOf = (event: Json | undefined) => Date.parse(String(event?.["occurredAt"]))

describe("a launch that is refused for lack of disk space", () => {
  it.live("is reported with the mount and the minimum, once for each runner until the next try is due", () =>
    withPipeline(
      (call) =>
        Effect.gen(function* () {
          yield* ask("host-1")
          assert.deepStrictEqual(yield* told, [], "there was nothing to launch")
          yield* createItem(call)
          yield* isListed
          for (const runner of ["host-1", "host-1", "host-2"]) assert.strictEqual((yield* ask(runner))._tag, "Nothing")
          const [first, second, ...more] = yield* told
          assert.deepStrictEqual([first?.["workItem"], first?.["project"], more], [null, null, []])
          const { suggestedRetryAt, ...details } = (first?.["details"] ?? {}) as Json
          assert.deepStrictEqual(details, { mountPath: "/srv", freeBytes: 4_999, thresholdBytes: 5_000 })
          assert.strictEqual(Date.parse(String(suggestedRetryAt)) - timeOf(first), 2_000)
          assert.isDefined(second)

          const isToldAgain = Effect.andThen(
            ask("host-1"),
            Effect.map(told, (events) => events.length === 3)
          )
          yield* eventually(isToldAgain)
          assert.isAtLeast(timeOf((yield* told)[2]) - timeOf(first), 2_000)
          assert.strictEqual((yield* ask("host-1", []))._tag, "Dispatch")
        }),
      settings
    )
  )

  it.live("is reported once by many simultaneous requests", () =>
    withPipeline(
      (call) =>
        Effect.gen(function* () {
          yield* createItem(call)
          yield* isListed
          yield* Effect.all(
            Array.from({ length: 20 }, () => ask("host-1")),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(yield* told, 1)
        }),
      settings
    )
  )
})
