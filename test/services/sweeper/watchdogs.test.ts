import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Views } from "#actors"
import type { CommandClient } from "../../../services/sweeper/command-client.ts"
import {
  beginWatch,
  lookAtViews,
  makePausedQueues,
  type SilenceTimes,
  silentItems,
  staleItems,
  watchful
} from "../../../services/sweeper/watchdogs.ts"
import { dayMs, hourMs, itemRow, minuteMs, nowMs, uuid } from "./rows.ts"

const times: SilenceTimes = {
  nowMs,
  watchingSinceMs: nowMs - hourMs,
  progressMs: 30_000,
  timeoutMs: 180_000
}
const inHand = (number: number, runner: string, silentMs: number) =>
  itemRow({
    id: uuid(number),
    deadlinesMs: { lastProgress: nowMs - silentMs },
    summary: { runner, dispatchId: `d${number}` }
  })
const idsOf = (planned: ReadonlyArray<{ readonly id: string }>) => planned.map(({ id }) => id)

describe("a runner", () => {
  it("that is silent for the time allowed is dead, and all its items are handed back", () => {
    const { dead, stuck } = silentItems([inHand(1, "r", 180_000), inHand(2, "r", 200_000)], times)
    assert.deepStrictEqual(idsOf(dead), [uuid(1), uuid(2)])
    assert.deepStrictEqual(idsOf(stuck), [])
    assert.deepStrictEqual(dead[0]?.command, { _tag: "Recover", reason: "dead worker detected", dispatchId: "d1" })
  })

  it("with a recent sign of life is left alone", () => {
    const { dead, stuck } = silentItems([inHand(1, "r", 179_999)], times)
    assert.deepStrictEqual([...dead, ...stuck], [])
  })

  it("that lives may have a stalled item", () => {
    const { dead, stuck } = silentItems(
      [inHand(1, "r", 1_000), inHand(2, "r", 200_000), inHand(3, "s", 200_000)],
      times
    )
    assert.deepStrictEqual(idsOf(dead), [uuid(3)])
    assert.deepStrictEqual(idsOf(stuck), [uuid(2)])
  })

  it("has a moment for a sign of life after a start", () => {
    const items = [inHand(1, "r", hourMs)]
    const after = (ms: number) => silentItems(items, { ...times, watchingSinceMs: nowMs - ms }).dead.length
    assert.strictEqual(after(59_999), 0)
    assert.strictEqual(after(60_000), 1)
  })

  it("whose items were silent before the start has stranded them", () => {
    const [stranded] = silentItems([inHand(1, "r", hourMs)], { ...times, watchingSinceMs: nowMs - minuteMs }).dead
    assert.deepStrictEqual(stranded?.command, {
      _tag: "Recover",
      reason: "orchestrator restart with stranded item",
      dispatchId: "d1"
    })
  })
})

describe("an item that should move", () => {
  const never = () => null
  const stale = (changes: Parameters<typeof itemRow>[0] = {}) =>
    itemRow({ deadlinesMs: { stale: nowMs - dayMs }, state: "WorkComplete", ...changes })
  const found = (item: ReturnType<typeof itemRow>, lastPausedMs: (id: string | null) => number | null = never) =>
    staleItems({ items: [item], lastPausedMs, nowMs, staleMs: dayMs }).map(({ command }) => command)
  const recover = { _tag: "Recover", reason: "item-stale updatedAt", dispatchId: null } as const

  it("is handed back after a day without a change", () => {
    assert.deepStrictEqual(found(stale()), [recover])
    assert.deepStrictEqual(found(stale({ deadlinesMs: { stale: nowMs - dayMs + 1 } })), [])
  })

  it("is not stale while it is put off, nor soon after", () => {
    assert.deepStrictEqual(found(stale({ summary: { notBeforeMs: nowMs + minuteMs } })), [])
    assert.deepStrictEqual(found(stale({ summary: { notBeforeMs: nowMs - minuteMs } })), [])
  })

  it("is not stale while its project's queue or the pickup queue is paused, nor soon after", () => {
    const queues = makePausedQueues()
    queues.look([{ id: "garden", state: "Paused" }], undefined, nowMs - minuteMs)
    assert.deepStrictEqual(found(stale(), queues.lastPausedMs), [])
    assert.deepStrictEqual(found(stale({ project: "other" }), queues.lastPausedMs), [recover])
    queues.look([{ id: "garden", state: "Running" }], { id: "global", state: "Paused" }, nowMs)
    assert.deepStrictEqual(found(stale({ project: "other" }), queues.lastPausedMs), [])
  })

  it("is stale in a runner's hands whatever is paused", () => {
    assert.strictEqual(found(stale({ summary: { dispatchId: "d1" } }), () => nowMs).length, 1)
  })
})

describe("a watchdog", () => {
  it.effect(
    "sends nothing while the views are stuck, and continues once they move",
    () =>
      Effect.gen(function* () {
        const view = { sequence: 5, behind: 3 }
        const sent: Array<number> = []
        const sweep = watchful({
          name: "dead-workers",
          everyMs: 1_000,
          views: { freshness: () => view } as unknown as Views["Service"],
          client: {
            send: (_: string, planned: ReadonlyArray<unknown>) => Effect.sync(() => (sent.push(planned.length), []))
          } as unknown as CommandClient["Service"],
          judge: () => () => []
        })
        const look = yield* sweep.begin
        yield* look
        assert.strictEqual(sent.length, 1)
        yield* TestClock.adjust("1 second")
        yield* look
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* look, { "views-still": 1 })
        assert.strictEqual(sent.length, 1)
        view.sequence = 6
        yield* look
        assert.strictEqual(sent.length, 2)
      }) as Effect.Effect<void>
  )
})

describe("the views", () => {
  const look = lookAtViews

  it("are fresh at the log's end, and while they progress", () => {
    const begun = beginWatch(nowMs)
    assert.isTrue(look(begun, { sequence: 5, behind: 0 }, nowMs).isFresh)
    const behind = look(begun, { sequence: 5, behind: 3 }, nowMs)
    assert.isTrue(behind.isFresh)
    assert.isFalse(look(behind, { sequence: 5, behind: 4 }, nowMs + 1_000).isFresh)
  })

  it("get a new grace period after they stood still", () => {
    const first = look(beginWatch(nowMs), { sequence: 5, behind: 0 }, nowMs)
    const still = look(first, { sequence: 5, behind: 2 }, nowMs + 20_000)
    assert.isTrue(still.isStill)
    const again = look(still, { sequence: 7, behind: 0 }, nowMs + 30_000)
    assert.strictEqual(again.sinceMs, nowMs + 30_000)
    assert.strictEqual(look(again, { sequence: 7, behind: 0 }, nowMs + 60_000).sinceMs, nowMs + 30_000)
  })

  it("get no new grace period after a moment's hesitation", () => {
    const first = look(beginWatch(nowMs), { sequence: 5, behind: 0 }, nowMs)
    const moment = look(first, { sequence: 5, behind: 2 }, nowMs + 1_000)
    assert.isFalse(moment.isStill)
    assert.strictEqual(look(moment, { sequence: 7, behind: 0 }, nowMs + 2_000).sinceMs, nowMs)
  })
})
