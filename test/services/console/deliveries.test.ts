import { assert, describe, it } from "@effect/vitest"
import type { Attempt } from "#webhooks/contract"
import { isComplete, isWanted, type Line } from "../../../services/console/deliveries/lines.ts"

const nowMs = Date.UTC(2026, 10, 20, 12)

const line = (changes: Partial<Attempt> = {}): Line => ({
  sequence: 1,
  index: 0,
  attempt: {
    deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
    endpoint: "demo",
    event: "work_item.merged",
    sequence: 7,
    attempt: 1,
    startedAt: "2026-11-20T12:00:00.000Z",
    durationMs: 5,
    outcome: "failed",
    status: 500,
    error: null,
    responseBody: "",
    nextAttemptAt: null,
    ...changes
  }
})

describe("a line of the delivery log is wanted", () => {
  it.each([
    ["by no condition", {}, true],
    ["by its event's name", { event: "work_item.merged" }, true],
    ["by a pattern of names", { event: "work_item.*" }, true],
    ["not by another event", { event: "queue.*" }, false],
    ["by its event's place", { eventSequence: 7 }, true],
    ["not by another place", { eventSequence: 8 }, false],
    ["from the very moment on", { sinceMs: nowMs }, true],
    ["not from before", { sinceMs: nowMs + 1 }, false],
    ["up to the very moment", { untilMs: nowMs }, true],
    ["not from after", { untilMs: nowMs - 1 }, false]
  ] as const)("%s", (_, query, expected) => {
    assert.strictEqual(isWanted(query)(line()), expected)
  })
})

describe("the attempts of a delivery are complete", () => {
  it.each([
    ["from the first to one that nothing follows", [line()], true],
    ["while the next is not due yet", [line({ nextAttemptAt: "2026-11-20T12:00:01.000Z" })], true],
    ["not once the next was due", [line({ nextAttemptAt: "2026-11-20T11:59:59.000Z" })], false],
    ["not without the first", [line({ attempt: 2 })], false],
    ["not without any", [], false]
  ] as const)("%s", (_, lines, expected) => {
    assert.strictEqual(isComplete(lines, nowMs), expected)
  })
})
