import { assert, describe, it } from "@effect/vitest"
import { originOf, missingEvents, outdatedViews } from "../../../services/sweeper/reconciliation.ts"
import { dayMs, nowMs } from "./rows.ts"

const record = (sequence: number, events: number, atMs = nowMs) => ({
  sequence,
  entity: "workitem",
  id: "a",
  events,
  atMs
})

describe("LOG beside EVENTS", () => {
  it("misses every event that is absent under its id", () => {
    const there = new Set(["log.1.0", "log.3.1"])
    const missing = missingEvents([record(1, 1), record(2, 0), record(3, 3)], (id) => there.has(id), 0)
    assert.deepStrictEqual(missing, ["log.3.0", "log.3.2"])
  })

  it("does not miss events beyond EVENTS' retention", () => {
    assert.deepStrictEqual(
      missingEvents([record(1, 1, nowMs - 40 * dayMs)], () => false, nowMs - 34 * dayMs),
      []
    )
  })

  it.each([
    ["log.12.3", { record: 12, index: 3 }],
    ["log.12", undefined],
    ["other", undefined],
    ["log.12.3.6f0cbb04-9c4f-4f0e-8f4c-5a0f6f3d9f11", { record: 12, index: 3 }],
    ["log.1.2.3 4", undefined],
    ["log.1.2.3.4", undefined],
    [undefined, undefined]
  ] as const)("reads the id %s", (id, origin) => {
    assert.deepStrictEqual(originOf(id), origin)
  })
})

describe("LOG beside the views", () => {
  const shown = (sequence: number) => () => ({ sequence })

  it("finds an entity that is shown in an older state", () => {
    assert.deepStrictEqual(outdatedViews([record(5, 0), record(9, 0)], shown(5), 9), ["workitem a"])
    assert.deepStrictEqual(outdatedViews([record(5, 0), record(9, 0)], shown(9), 9), [])
  })

  it("does not expect records that the views have not reached, nor hidden entities", () => {
    assert.deepStrictEqual(outdatedViews([record(5, 0), record(9, 0)], shown(5), 8), [])
    assert.deepStrictEqual(
      outdatedViews([record(5, 0)], () => undefined, 9),
      []
    )
  })
})
