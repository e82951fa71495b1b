import { assert, describe, it } from "@effect/vitest"
import { plainAscii, utterances } from "../../../../../libs/speech/engine/flite/text.ts"

describe("a text for flite", () => {
  it("becomes ASCII of the same length", () => {
    assert.strictEqual(plainAscii("Noël “œuvre” — 😀 naïve 漢"), 'Noel "ouvre" ,    naive  ')
  })
})

describe("the utterances of a text for flite", () => {
  const cut = (text: string) => utterances(text).map(({ from, to }) => text.slice(from, to))

  it("end with sentences, but not with abbreviations", () => {
    assert.deepStrictEqual(cut("Dr. Smith met us at noon. We had tea."), ["Dr. Smith met us at noon. ", "We had tea."])
  })
  it("are short and lose nothing, whatever the text", () => {
    for (const text of ["", "a".repeat(20_000), "word ".repeat(500), "so, ".repeat(300), "A. ".repeat(300)]) {
      assert.strictEqual(cut(text).join(""), text)
      assert.isTrue(cut(text).every((part) => part.length <= 120))
    }
  })
})
