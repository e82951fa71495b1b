import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { sealedThought, sealThought } from "../../../../services/model-gateway/translate/sealed-thought.ts"

describe("a thought that a caller carries to the next turn", () => {
  it.prop("comes back as it was", [Schema.String, Schema.String], ([text, signature]) => {
    const signed = { _tag: "Signed", text, signature } as const
    assert.deepStrictEqual(sealedThought(sealThought(signed)), signed)
    const plain = { _tag: "Plain", text } as const
    assert.deepStrictEqual(sealedThought(sealThought(plain)), plain)
    const encrypted = { _tag: "Encrypted", data: text } as const
    assert.deepStrictEqual(sealedThought(sealThought(encrypted)), encrypted)
  })

  it.each(["", "st1.", "st1.e30", "st1.W10", "gAAAAABo", "st1.!", `st1.${"e30".repeat(9)}`])(
    "is none where it was not made here: %s",
    (text) => {
      assert.isUndefined(sealedThought(text))
    }
  )
})
