import { assert, describe, it } from "@effect/vitest"
import { settingsPage } from "#contracts"

describe("the page of settings", () => {
  const rows = settingsPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split(/(?<!\\)\|/u).map((cell) => cell.trim()))

  it("says of every key what it is for", () => {
    assert.isAbove(rows.length, 150)
    const silent = rows.filter(([, , , , reason]) => reason === "").map(([, key]) => key)
    assert.deepStrictEqual(silent, [])
  })

  it("says of no key the words of another of its table, for each is there for a reason of its own", () => {
    const words = rows.map(([, , , , reason]) => reason)
    const again = words.filter((reason, index) => words.indexOf(reason) !== index)
    // Where something listens, and on which port, is said of each API alike.
    assert.deepStrictEqual(
      again.filter((reason) => reason !== "0: any free one." && !reason?.startsWith("Where the ")),
      []
    )
  })
})
