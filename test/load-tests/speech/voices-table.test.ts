import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { catalogueOf } from "#speech"
import { pageWith, qualityOf, tablesOf, voicesPage } from "../../../load-tests/speech/voices-table.ts"

describe("the quality of a voice", () => {
  it.each([
    [{ words: 5, phonemes: 5 }, "natural"],
    [{ words: 5, phonemes: undefined }, "clear"],
    [{ words: 5.1, phonemes: 5 }, "clear"],
    [{ words: 12.5, phonemes: 10 }, "clear"],
    [{ words: 2, phonemes: 10.1 }, "basic"],
    [{ words: 12.6, phonemes: undefined }, "basic"]
  ] as const)("of %j is %s", (errors, quality) => {
    assert.strictEqual(qualityOf(errors), quality)
  })

  it("is in the catalogue what docs/voices.md measured", () => {
    const { byId } = catalogueOf([])
    const rows = [...readFileSync(voicesPage, "utf8").matchAll(/^\| (\w+) \| .. \| (natural|clear|basic) \|/gmu)]
    assert.isAbove(rows.length, 10)
    const differing = rows.filter(([, id = "", quality]) => (byId(id)?.quality ?? quality) !== quality)
    assert.deepStrictEqual(
      differing.map(([row]) => row),
      []
    )
  })
})

describe("the tables of voices", () => {
  const figure = (name: string, value: number) => ({ scenario: "heart, en, speed 1", name, value, unit: "" })

  it("have a row for each voice, and a dash for what was not measured", () => {
    const tables = tablesOf([
      figure("words read", 55),
      figure("words heard wrongly", 3),
      figure("phonemes heard wrongly", 2)
    ])
    assert.include(tables, "| heart | en | natural | 55 | 3.0 · – · – % | 2.0 · – · – % | – | – ms | – |")
  })

  it("take the place of those that were there", () => {
    const page = "a\n<!-- measured: dev/voices.sh -->\nold\n<!-- measured until here -->\nb\n"
    assert.strictEqual(
      pageWith(page, "new"),
      "a\n<!-- measured: dev/voices.sh -->\n\nnew\n\n<!-- measured until here -->\nb\n"
    )
    assert.throws(() => pageWith("a", "new"))
  })
})
