import { assert, describe, it } from "@effect/vitest"
import { settingsPage } from "#configuration"

describe("the page of settings", () => {
  const rows = settingsPage()
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split(/(?<!\\)\|/u).map((cell) => cell.trim()))

  it("explains every key", () => {
    assert.isAbove(rows.length, 150)
    const silent = rows.filter(([, , , , reason]) => reason === "").map(([, key]) => key)
    assert.deepStrictEqual(silent, [])
  })

  it("explains no two keys of a table in the same words", () => {
    const words = rows.map(([, , , , reason]) => reason)
    const again = words.filter((reason, index) => words.indexOf(reason) !== index)
    // The address and the port of each API are explained alike.
    assert.deepStrictEqual(
      again.filter((reason) => reason !== "0: any free one." && !reason?.startsWith("Where the ")),
      []
    )
  })
})
