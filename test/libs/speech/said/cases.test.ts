import { assert, describe, it } from "@effect/vitest"
import { asHeard, casesOf, languagesWithCases } from "./cases.ts"

describe.each(languagesWithCases)("the cases of %s", (language) => {
  const cases = casesOf(language)
  const where = ({ line }: { readonly line: number }) => `${language}.txt:${line}`

  it("each have a kind and a source", () =>
    assert.deepStrictEqual(cases.filter(({ kind, source }) => kind === "" || source === "").map(where), []))

  it("stand there once", () => {
    const seen = new Set<string>()
    const again = cases.filter(({ locale, written }) => seen.size === seen.add(`${locale} ${written}`).size)
    assert.deepStrictEqual(again.map(where), [])
  })

  it("have readings, each once", () =>
    assert.deepStrictEqual(
      cases.filter(({ said }) => said.includes("") || new Set(said).size < said.length).map(where),
      []
    ))

  it("are said as they are written below `unchanged` alone", () =>
    assert.deepStrictEqual(
      cases
        .filter(({ kind, written, said }) => (kind === "unchanged") !== said.every((reading) => reading === written))
        .map(where),
      []
    ))
})

describe("readings that are heard alike", () => {
  it.each([
    ["The F B I, at ten P M.", "the FBI at ten PM."],
    ["twenty-four", "twenty four"],
    ["e-mail a b", "E mail ab"],
    ["at one A M E S T", "at one AM EST"],
    ["P D Fs of the C E O's", "PDFs of the CEO's"],
    ["Great job !", "Great job!"]
  ])("%s and %s", (one, other) => assert.strictEqual(asHeard(one), asHeard(other)))

  it.each([
    ["Elm Drive. It", "Elm Drive it"],
    ["I, a man", "I amen"]
  ])("%s and %s are not", (one, other) => assert.notStrictEqual(asHeard(one), asHeard(other)))
})
