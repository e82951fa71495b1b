import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readInput } from "../../../libs/speech/read-input.ts"
import { fragments } from "./ssml/fragments.ts"
import { assertCovered, assertLaws } from "./laws.ts"

const Text = Schema.Array(Schema.Literals(fragments))

describe("plain text", () => {
  it.prop(
    "has a mark for every word once, in order, as it was sent",
    [Text],
    ([parts]) => {
      const input = parts.join("")
      if (input.trim() === "" || input.trimStart().startsWith("<speak")) return
      const result = readInput(input, { textNormalization: false, locale: "en-US" })
      if (result._tag === "Failure") return assert.notMatch(input, /[\p{L}\p{N}]/u)
      assertLaws(input, result.success)
      // Signs that nobody says are silence.
      if (result.success.chunks.length === 0) return assert.notMatch(input, /[\p{L}\p{N}]/u)
      assertCovered(input, result.success)
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "has a mark for every word once when it is normalised, too",
    [Text],
    ([parts]) => {
      const input = parts.join("")
      const result = readInput(input, { textNormalization: true, locale: "en-GB" })
      if (result._tag === "Success") assertLaws(input, result.success)
    },
    { arbitrary: { runs: 300 } }
  )
})
