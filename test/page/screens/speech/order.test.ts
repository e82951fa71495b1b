import { assert, describe, it } from "@effect/vitest"
import { orderFor } from "../../../../page/screens/speech/order.ts"

describe("what the page asks for", () => {
  it("is a stream with the words' times, in the model that was chosen", () => {
    const request = { input: "Hello.", voice_id: "heart" }
    assert.deepStrictEqual(orderFor({ id: "heart" }, "Hello."), { kind: "text", hasMarks: true, request })
    assert.deepStrictEqual(orderFor({ id: "heart" }, "Hello.", { hasMarks: false, model: "tts-english" }), {
      kind: "text",
      hasMarks: false,
      request: { ...request, model: "tts-english" }
    })
  })

  it("is a dialogue of one, with a voice that is slower than real time", () => {
    assert.deepStrictEqual(orderFor({ id: "dora", real_time: false }, "Hola."), {
      kind: "dialogue",
      request: { turns: [{ input: "Hola.", voice_id: "dora" }] }
    })
  })
})
