import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { runbooks } from "../../../../page/screens/fleet/conditions.ts"
import { runbookIn } from "../../../../page/screens/fleet/runbook.ts"

const operations = readFileSync("docs/runbooks.md", "utf8")

const document = `## Runbooks

### First

- Means: It is \`down\`,
  for good.
- Do: See [Backup](#backup), then \`./starling up\`.

### FirstOfAll

- Means: Something else.

### Other
`

describe("a runbook of the page", () => {
  it("has each step with its label, its code apart from its words, and links as their words", () => {
    expect(runbookIn(document, "First")).toEqual([
      {
        label: "Means",
        parts: [
          { text: "It is ", isCode: false },
          { text: "down", isCode: true },
          { text: ", for good.", isCode: false }
        ]
      },
      {
        label: "Do",
        parts: [
          { text: "See Backup, then ", isCode: false },
          { text: "./starling up", isCode: true },
          { text: ".", isCode: false }
        ]
      }
    ])
  })

  it("ends where the next heading begins, and is empty for a heading that is not there", () => {
    expect(runbookIn(document, "FirstOfAll")).toHaveLength(1)
    expect(runbookIn(document, "Second")).toEqual([])
  })

  it.each(Object.values(runbooks))("%s is in docs/runbooks.md, and says what it means and what to do", (heading) => {
    expect(runbookIn(operations, heading).map(({ label }) => label)).toEqual(
      expect.arrayContaining(["Means", "Look at", "Do"])
    )
  })
})
