import { assert, describe, it } from "@effect/vitest"
import { embeddingAnswer, holdsVectors, inputsOf } from "../../../../services/model-gateway/requests/read-embeddings.ts"

describe("the inputs of a request for embeddings", () => {
  it("are one text, one list of tokens, or several of either", () => {
    assert.deepStrictEqual(inputsOf("a"), ["a"])
    assert.deepStrictEqual(inputsOf([1, 2]), [[1, 2]])
    assert.deepStrictEqual(inputsOf(["a", "b"]), ["a", "b"])
    assert.deepStrictEqual(inputsOf([[1], [2]]), [[1], [2]])
  })
})

describe("an answer with vectors", () => {
  const vector = (embedding: unknown, index = 0) => ({ object: "embedding", index, embedding })
  const written = (floats: ReadonlyArray<number>) => Buffer.from(Float32Array.from(floats).buffer).toString("base64")
  const floats = [0.5, -0.25, 1]
  const answer = { object: "list", data: [vector(floats)], model: "theirs", usage: { prompt_tokens: 1 } }

  it("is whole with one for each input", () => {
    assert.isTrue(holdsVectors(answer, 1))
    for (const data of [undefined, {}, [], [vector("")], [vector([])], [vector(["a"])], [vector(null)], [null]]) {
      assert.isFalse(holdsVectors({ data }, 1), JSON.stringify(data))
    }
    assert.isFalse(holdsVectors(answer, 2))
  })

  it("keeps what is in the encoding that was asked for, to the byte", () => {
    const kept = { ...answer, model: "demo/embedding" }
    assert.deepStrictEqual(embeddingAnswer(answer, "demo/embedding", "float"), kept)
    const data = [vector("not/checked==")]
    assert.deepStrictEqual(embeddingAnswer({ ...answer, data }, "demo/embedding", "base64"), { ...kept, data })
  })

  it("is turned into the encoding that was asked for", () => {
    const data = [vector(written(floats))]
    assert.deepStrictEqual(embeddingAnswer(answer, "m", "base64")["data"], data)
    assert.deepStrictEqual(embeddingAnswer({ ...answer, data }, "m", "float")["data"], answer.data)
  })
})
