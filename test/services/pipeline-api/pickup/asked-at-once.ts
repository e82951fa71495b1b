/** The knowledge and the actions of pickup, as tests of one process and of several see them. */
import { Effect, Stream } from "effect"
import { StreamReader } from "#bus"
import type { PickupQuestion } from "#pipeline/contract"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { type Call, createItem, metricsText, pickUp } from "../../../support/pipeline.ts"

export const createMany = (call: Call, count: number, changes = {}) =>
  Effect.forEach(Array.from({ length: count }), (_, n) => createItem(call, { title: `item ${n}`, ...changes }), {
    concurrency: 8
  })

/** Pickup knows of so many ready items. */
export const listed = (count: number) =>
  eventually(metricsText, {
    is: (text) => {
      const gauges = text.split("\n").filter((line) => line.startsWith("pipeline_ready_items{"))
      return gauges.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0) >= count
    }
  })

/** Sequences of LOG at which an item was dispatched, and at which something was paused. */
export const dispatchedAndPaused = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence: toSequence } = yield* reader.bounds("LOG")
  const records = yield* Stream.runCollect(reader.range("LOG", { fromSequence: 1, toSequence }))
  const tags = records.map(({ sequence, data }) => {
    const { facts = [] } = JSON.parse(new TextDecoder().decode(data)) as { facts?: ReadonlyArray<{ _tag: string }> }
    return { sequence, tags: facts.map(({ _tag }) => _tag) }
  })
  const of = (...wanted: ReadonlyArray<string>) =>
    tags.filter(({ tags }) => tags.some((tag) => wanted.includes(tag))).map(({ sequence }) => sequence)
  return { dispatched: of("Dispatched"), paused: of("Paused", "PausedManually") }
})

export const isBusy = (given: { readonly _tag: string; readonly why?: string }) =>
  given._tag === "Nothing" && given.why === "busy"

export const pickUpOnce = (pickupId: string) => Effect.suspend(() => pickUp({ pickupId, waitMs: 0 }))

/** So many runners at once, each until it is given something or there is nothing. */
export function askers(count: number, changes: Partial<PickupQuestion> = {}) {
  return Effect.all(
    Array.from({ length: count }, (_, n) =>
      Effect.repeat(
        Effect.suspend(() => pickUp({ runner: `runner-${n}`, waitMs: 0, ...changes })),
        { while: isBusy, times: 200 }
      )
    ),
    { concurrency: "unbounded" }
  )
}
