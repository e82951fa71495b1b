import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { clean, planted } from "./planted.ts"

const words = [
  "the",
  "request",
  "failed",
  "model",
  "temperature",
  "must be",
  "at most 2",
  "(see",
  "docs)",
  "'top_p'",
  "for",
  "error:"
] as const

describe("a provider's sanitised message", () => {
  const Around = Schema.Literals(["", "'", "(", '"', "<", ": ", ", ", "= "])
  const Text = Schema.Array(Schema.Literals(words))
  it.prop(
    "contains no key, no place and no provider's name, anywhere in it",
    [Text, Schema.Literals(planted), Around, Around, Text],
    ([before, secret, left, right, after]) => {
      const said = `${before.slice(0, 20).join(" ")} ${left}${secret}${right} ${after.slice(0, 20).join(" ")}`
      assert.notInclude(clean(said).toLowerCase(), secret.toLowerCase(), said)
    },
    { arbitrary: { runs: 800 } }
  )
})
