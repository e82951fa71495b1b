import { describe, expect, it } from "vitest"
import { fitting, type Thing, together } from "../../../../services/console/find/trace.ts"

const thing = (id: string, ...below: ReadonlyArray<Thing>): Thing => ({ kind: "event", id, at: null, text: id, below })

describe("a trace", () => {
  it("has each thing's parts below it", () => {
    const { lines } = fitting({ things: [thing("1", thing("2", thing("3")), thing("4")), thing("5")], notes: [] })
    expect(lines.map(({ depth, id }) => [depth, id])).toEqual([
      [0, "1"],
      [1, "2"],
      [2, "3"],
      [1, "4"],
      [0, "5"]
    ])
  })

  it("says how many lines do not fit", () => {
    const many = Array.from({ length: 203 }, (_, index) => thing(String(index)))
    const { lines, notes } = fitting({ things: many, notes: ["old"] })
    expect([lines.length, notes]).toEqual([200, ["old", "3 more lines do not fit."]])
  })

  it("has each note once", () => {
    expect(
      together([
        { things: [], notes: ["a"] },
        { things: [thing("1")], notes: ["a", "b"] }
      ]).notes
    ).toEqual(["a", "b"])
  })
})
