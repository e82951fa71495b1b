import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { jsonFault, parseJsonText } from "../../../../libs/base/json/json-text.ts"

const pieces = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"a"',
  '"\\n"',
  '"é😀"',
  "1",
  "-0.5e+3",
  "true",
  "null",
  " ",
  "\n",
  "x",
  '"'
] as const

const limits = { depthMax: 10, weightMax: 1_000 }

const parses = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("the JSON grammar reader", () => {
  it("agrees with JSON.parse on any text", () => {
    // Every text of three pieces, bare and nested: a property without chance.
    for (const a of pieces) {
      for (const b of pieces) {
        for (const c of pieces) {
          const text = `${a}${b}${c}`
          for (const tried of [text, `{"k":${text}}`, `[${text}]`, `{${text}}`]) {
            const isAcceptable = parses(tried)
            if ((jsonFault(tried, limits) === undefined) !== isAcceptable) assert.fail(tried)
            if (Result.isSuccess(parseJsonText(tried, limits)) !== isAcceptable) assert.fail(tried)
          }
        }
      }
    }
  })
})
