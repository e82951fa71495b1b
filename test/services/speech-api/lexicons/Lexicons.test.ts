import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { encodeToken } from "#base"
import { lexemesIn, readLexicon } from "#speech"
import { knownWorkspaces, matchersOf, type StoredLexicon } from "../../../../services/speech-api/lexicons/Lexicons.ts"

const stored = (name: string, content: string, isDefault = false): StoredLexicon => ({
  name,
  workspace: "w",
  content,
  isDefault,
  updatedAt: "2026-11-25T00:00:00.000Z",
  lexicon: Result.getOrThrow(readLexicon(content))
})
const pls = (language: string, alias: string) =>
  `<lexicon xml:lang="${language}"><lexeme><grapheme>die</grapheme><alias>${alias}</alias></lexeme></lexicon>`

const lexicons = [
  stored("a", "SQL = sequel", true),
  stored("b", "SQL = squirrel"),
  stored("de", pls("de-AT", "dee"), true),
  stored("en", pls("en-US", "dye"), true)
]
const aliases = (text: string, names: ReadonlyArray<string> | undefined, selections = new Map()) =>
  Result.getOrThrow(matchersOf({ lexicons, selections }, names)).flatMap((matcher) =>
    lexemesIn(text, matcher).lexemes.map(({ alias, language }) => [alias, language])
  )

describe("the words of a request", () => {
  it("are those of its lexicons, the first of two for a word", () => {
    assert.deepStrictEqual(aliases("SQL", ["a"]), [["sequel", undefined]])
    assert.deepStrictEqual(aliases("SQL", ["b", "a"]), [["squirrel", undefined]])
    assert.deepStrictEqual(aliases("SQL", []), [])
  })
  it("are the defaults' without lexicons, and those of each language", () => {
    assert.deepStrictEqual(aliases("SQL die", undefined), [
      ["sequel", undefined],
      ["dee", "de"],
      ["dye", "en"]
    ])
  })
  it("are refused with the name of a lexicon that is not there", () => {
    const found = matchersOf({ lexicons, selections: new Map() }, ["a", "none"])
    assert.strictEqual(Result.isFailure(found) ? found.failure.name : "", "none")
  })
  it("are put together once for the same names", () => {
    const selections = new Map()
    aliases("", ["a", "b"], selections)
    const made = selections.get("a,b")
    aliases("", ["a", "b"], selections)
    assert.strictEqual(selections.get("a,b"), made)
    for (let at = 0; at < 40; at += 1)
      aliases(
        "",
        Array.from({ length: at }, () => "a"),
        selections
      )
    assert.isAtMost(selections.size, 32)
  })
})

describe("what is known of workspaces", () => {
  it("is kept only while changes are followed", () => {
    const known = knownWorkspaces()
    known.reading("w")(lexicons)
    assert.isUndefined(known.find("w"))
    known.follow(true)
    known.reading("w")(lexicons)
    assert.strictEqual(known.find("w")?.lexicons.length, 4)
    known.follow(false)
    assert.isUndefined(known.find("w"))
  })
  it("is forgotten at a change, also one that comes while it is read", () => {
    const known = knownWorkspaces()
    known.follow(true)
    known.reading("w")(lexicons)
    known.changed(`${encodeToken("w")}.${encodeToken("a")}`)
    assert.isUndefined(known.find("w"))
    const keep = known.reading("w")
    known.changed(`${encodeToken("w")}.${encodeToken("a")}`)
    assert.strictEqual(keep(lexicons).lexicons.length, 4)
    assert.isUndefined(known.find("w"))
  })
  it("is bounded, and the least recently used goes first", () => {
    const known = knownWorkspaces()
    known.follow(true)
    const large = [{ ...stored("a", "SQL = sequel"), content: " ".repeat(5_000_000) }]
    for (const workspace of ["1", "2", "3"]) known.reading(workspace)(large)
    known.find("1")
    known.reading("4")(large)
    assert.deepStrictEqual(
      ["1", "2", "3", "4"].filter((workspace) => known.find(workspace) !== undefined),
      ["1", "3", "4"]
    )
  })
})
