import { assert, describe, it } from "@effect/vitest"
import { exampleEnvelope } from "#base"
import { type StoredEvent, tryFilters } from "#webhooks"

const event = (sequence: number, name: string, isOptIn = false): StoredEvent => ({
  sequence,
  storedAtMs: sequence,
  event: name,
  isOptIn,
  schemaVersion: "1.3.0",
  entity: undefined,
  envelope: exampleEnvelope(name) as StoredEvent["envelope"],
  body: new Uint8Array()
})
const events = [
  event(4, "iteration.started", true),
  event(3, "queue.paused"),
  event(2, "work_item.merged"),
  event(1, "shop.x", true)
]

describe("the trial of filters", () => {
  it.each<
    readonly [string, Parameters<typeof tryFilters>[0], ReadonlyArray<number>, ReadonlyArray<readonly [number, string]>]
  >([
    [
      "all but those on request",
      { EventFilter: [] },
      [3, 2],
      [
        [4, "/event"],
        [1, "/event"]
      ]
    ],
    [
      "by name",
      { EventFilter: ["iteration.*"] },
      [4],
      [
        [3, "/event"],
        [2, "/event"],
        [1, "/event"]
      ]
    ],
    [
      "by content, whose misfits come first",
      { EventFilter: ["queue.*", "work_item.*"], ContentFilter: { project: { id: ["orchard"] } } },
      [2],
      [
        [3, "/project/id"],
        [4, "/event"],
        [1, "/event"]
      ]
    ]
  ])("shows what fits %s", (_, filters, fitting, others) => {
    const trial = tryFilters(filters, events)
    assert.deepStrictEqual(
      trial.fitting.map(({ sequence }) => sequence),
      [...fitting]
    )
    assert.deepStrictEqual(
      trial.others.map(({ event: { sequence }, mismatch }) => [sequence, mismatch.path] as const),
      [...others]
    )
  })
})
