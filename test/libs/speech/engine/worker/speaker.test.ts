import { assert, describe, it } from "@effect/vitest"
import { endsWithPause, withoutControls } from "../../../../../libs/speech/engine/worker/speaker.ts"

describe("a text for an engine", () => {
  it("has spaces in place of control characters, and the same length", () => {
    assert.strictEqual(withoutControls("a\u0000b\u0001+20Pc\u0085d\ne"), "a b +20Pc d e")
  })
  it.each(["Yes.", "Yes, ", 'He said "no!" ', "どうも。", "شكرا؟"])("ends with a pause: %j", (text) => {
    assert.isTrue(endsWithPause(text))
  })
  it.each(["Yes", "$1.5", "really ", ""])("goes on without a pause: %j", (text) => {
    assert.isFalse(endsWithPause(text))
  })
})
