import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { EmbeddingsRequest } from "#gateway/contract"
import { inputTokensOf } from "#payments"
import { embeddingSize, inputFault } from "../../../../services/model-gateway/requests/read-embeddings.ts"

const accepts = Schema.is(EmbeddingsRequest)

const refused: ReadonlyArray<readonly [input: unknown, param: string]> = [
  [undefined, "input"],
  [null, "input"],
  [7, "input"],
  [{ text: "a" }, "input"],
  ["", "input"],
  [[], "input"],
  [Array.from({ length: 2_049 }, () => "a"), "input"],
  [["a", ""], "input.1"],
  [["a", 1], "input.1"],
  [["a", [1]], "input.1"],
  [[{ type: "text" }], "input.0"],
  [[null], "input.0"],
  [[1, "a"], "input.1"],
  [[1, -1], "input.1"],
  [[1.5], "input.0"],
  [[1, [1]], "input.1"],
  [[[1], []], "input.1"],
  [[[1], [2, "a"]], "input.1.1"],
  [[[1], "a"], "input.1"]
]

describe("the inputs of a call for embeddings", () => {
  it.each(refused)("are refused at their place: %j", (input, param) => {
    const fault = inputFault(input)
    assert.deepInclude({ ...fault }, { code: "INVALID_REQUEST_BODY", param })
    assert.deepStrictEqual(
      fault?.details?.map(({ path }) => path.join(".")),
      [param]
    )
    assert.isFalse(accepts({ model: "a/b", input }))
  })

  const Token = Schema.Union([Schema.Int, Schema.Finite, Schema.Literals([0, 1, -1])])
  const Part = Schema.Union([Schema.Literals(["", "a"]), Token, Schema.Array(Token), Schema.Null])
  it.prop(
    "are taken exactly where the schema takes them",
    [Schema.Union([Part, Schema.Array(Part), Schema.Array(Schema.Array(Token)), Schema.Array(Schema.String)])],
    ([input]) => {
      assert.strictEqual(inputFault(input) === undefined, accepts({ model: "a/b", input }), JSON.stringify(input))
    }
  )

  it("count a token for an id or for four bytes, and at least one for each text", () => {
    const tokens = (input: unknown) => {
      const size = embeddingSize(input, 100)
      return size._tag === "Success" ? inputTokensOf(size.success) : size.failure.code
    }
    assert.strictEqual(tokens("12345"), 2)
    assert.strictEqual(tokens(["a", "b", "c"]), 3)
    assert.strictEqual(tokens([5, 6, 7]), 3)
    assert.strictEqual(tokens([[5, 6], [7]]), 3)
    assert.strictEqual(tokens("é".repeat(4)), 2)
  })

  it("are too long when they surely do not fit, each for itself", () => {
    const isTooLong = (input: unknown) => embeddingSize(input, 100)._tag === "Failure"
    assert.isFalse(isTooLong("a".repeat(800)))
    assert.isTrue(isTooLong("a".repeat(801)))
    assert.isTrue(isTooLong(["a", "a".repeat(801)]))
    assert.isFalse(isTooLong(Array.from({ length: 100 }, () => 1)))
    assert.isTrue(isTooLong(Array.from({ length: 101 }, () => 1)))
    assert.isFalse(isTooLong([Array.from({ length: 100 }, () => 1), Array.from({ length: 100 }, () => 1)]))
  })
})
