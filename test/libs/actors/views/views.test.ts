import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { type ViewIndex, viewIndex, viewKey, type ViewRow } from "../../../../libs/actors/views/views.ts"

const rowOf = (id: string, isEnded: boolean, changes: Partial<ViewRow> = {}): ViewRow => ({
  entity: "jar",
  id,
  project: "cellar",
  state: isEnded ? "Done" : "Open",
  createdAtMs: 1,
  updatedAtMs: 1,
  deadlinesMs: isEnded ? { ended: 1 } : {},
  sequence: 1,
  summary: {},
  ...changes
})
const kept = (index: ViewIndex) =>
  index
    .rowsOf("jar")
    .map(({ id }) => id)
    .toSorted()
const fill = (index: ViewIndex, ...rows: ReadonlyArray<ViewRow>) => {
  for (const row of rows) index.keep(viewKey(row), row)
}
const moving = (id: string, changes: Partial<ViewRow> = {}) => rowOf(id, false, changes)
const ended = (id: string, changes: Partial<ViewRow> = {}) => rowOf(id, true, changes)
const keyOf = (id: string) => viewKey(moving(id))

describe("more entities than the views keep", () => {
  it("push out ended entities, the latest end first, and never a live one", () => {
    const index = viewIndex(3)
    fill(index, ended("a"), ended("b"), moving("c"), moving("d"))
    assert.deepStrictEqual(kept(index), ["a", "c", "d"])
    fill(index, moving("e"), ended("f"))
    assert.deepStrictEqual(kept(index), ["c", "d", "e"])
    assert.deepStrictEqual(index.leftOut(), { ended: 3, moving: 0 })
  })

  it("count the live ones without room", () => {
    const index = viewIndex(2)
    fill(index, moving("a"), moving("b"), moving("c"))
    fill(index, moving("c", { sequence: 2 }), moving("d"))
    assert.deepStrictEqual(index.leftOut(), { ended: 0, moving: 2 })
    fill(index, ended("d", { sequence: 3 }))
    assert.deepStrictEqual(index.leftOut(), { ended: 1, moving: 1 })
    index.forget(keyOf("c"))
    index.forget(keyOf("d"))
    assert.deepStrictEqual(index.leftOut(), { ended: 0, moving: 0 })
  })

  it("load missing entities when there is room, live ones first", () => {
    const index = viewIndex(2)
    fill(index, moving("a"), moving("b"), ended("c"), moving("d"), moving("e"))
    assert.deepStrictEqual(index.wanted(9), [])
    fill(index, ended("a", { sequence: 2 }))
    assert.deepStrictEqual(index.wanted(9), [keyOf("d")])
    index.forget(keyOf("b"))
    assert.deepStrictEqual(index.wanted(9), [keyOf("d"), keyOf("e")])
    fill(index, moving("d"), moving("e"))
    assert.deepStrictEqual(kept(index), ["d", "e"])
    assert.deepStrictEqual(index.leftOut(), { ended: 2, moving: 0 })
    index.forget(keyOf("d"))
    assert.lengthOf(index.wanted(9), 1)
    assert.lengthOf(index.wanted(0), 0)
  })

  it("stay within the bound, whatever ends and begins again", () => {
    const index = viewIndex(100)
    let sequence = 1
    for (let turn = 0; turn < 2_000; turn++) {
      const id = String((turn * 7_919) % 300)
      sequence += 1
      fill(index, rowOf(id, turn % 3 !== 0, { sequence }))
      assert.isAtMost(index.rowsOf("jar").length, 100)
    }
    const { ended: gone, moving: missed } = index.leftOut()
    assert.strictEqual(kept(index).length + gone + missed, 300)
  })

  it("do not bring back a row's earlier state, nor a row under its old project", () => {
    const index = viewIndex(2)
    const here = moving("a", { project: "attic", sequence: 2 })
    fill(index, moving("a"), here, moving("a"))
    assert.strictEqual(Option.getOrThrow(index.find("jar", "a")).project, "attic")
    index.forget(keyOf("a"))
    assert.deepStrictEqual(kept(index), ["a"])
    index.forget(viewKey(here))
    assert.isTrue(Option.isNone(index.find("jar", "a")))
  })
})
