import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { assertLaws, read, wordsOf } from "./laws.ts"

const page = readFileSync("docs/pronunciation.md", "utf8")
const examples = [...page.matchAll(/```xml\n(<speak>.*?)\n```/gsu)].map(([, input = ""]) => input)

describe("the page on pronunciation", () => {
  it("has examples", () => assert.isAtLeast(examples.length, 1))

  it.each(examples)("is right in its example %s", (input) => {
    const reading = read(input)
    assertLaws(input, reading)
    assert.include(wordsOf(reading), "tomato")
    const pieces = reading.chunks.flatMap((chunk) => chunk.pieces)
    assert.deepStrictEqual(
      pieces.flatMap(({ pronunciations = [] }) => pronunciations.map(({ ipa }) => ipa)),
      ["təˈmɑːtəʊ", "təˈmeɪtoʊ"]
    )
  })
})
