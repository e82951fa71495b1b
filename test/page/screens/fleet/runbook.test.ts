import { describe, expect, it } from "vitest"
import { partsOf } from "../../../../page/screens/fleet/runbook.ts"

describe("a paragraph of a runbook", () => {
  it("has its code apart from its words, and links as their words", () => {
    expect(partsOf("See [Backup](operations.md#backup), then `./starling up`.")).toEqual([
      { text: "See Backup, then ", isCode: false },
      { text: "./starling up", isCode: true },
      { text: ".", isCode: false }
    ])
  })
})
