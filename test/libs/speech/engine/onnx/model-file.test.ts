import { assert, describe, it } from "@effect/vitest"
import { contentsOf, metadataBytes, outputBytes } from "../../../../../libs/speech/engine/onnx/model-file.ts"
import { tinyKokoro } from "../../../../support/tiny-voices.ts"

const joined = (...parts: ReadonlyArray<Uint8Array>) => Uint8Array.from(parts.flatMap((part) => [...part]))

describe("a model's file", () => {
  it("tells its inputs and the value that holds how long symbols last", () => {
    assert.deepStrictEqual(contentsOf(tinyKokoro()), {
      inputs: ["tokens", "style", "speed"],
      metadata: new Map(),
      durations: "lasts"
    })
  })
  it("takes metadata and outputs at its end", () => {
    const longer = joined(tinyKokoro(), metadataBytes({ voice: "en-us", sample_rate: "22050" }), outputBytes("lasts"))
    assert.deepStrictEqual(
      contentsOf(longer)?.metadata,
      new Map([
        ["voice", "en-us"],
        ["sample_rate", "22050"]
      ])
    )
    assert.deepStrictEqual(contentsOf(longer)?.inputs, ["tokens", "style", "speed"])
  })
  it.each([
    ["nothing", new Uint8Array(0)],
    ["text", new TextEncoder().encode("this is no model")],
    ["half a model", tinyKokoro().subarray(0, 100)],
    ["noise", Uint8Array.from({ length: 5_000 }, (_, at) => (at * at * 31) % 251)]
  ])("that is %s is no model", (_, bytes) => {
    assert.isUndefined(contentsOf(bytes))
  })
})
