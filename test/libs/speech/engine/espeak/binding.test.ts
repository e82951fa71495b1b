import { assert, describe, it } from "@effect/vitest"
import { steadyVoice } from "../../../../../libs/speech/engine/espeak/binding.ts"

describe("an espeak voice file", () => {
  const lines = (text: string) => text.split("\n").filter((line) => line !== "")

  it("has no flutter and no breath, and is otherwise the installed one", () => {
    const installed = "language de\nflutter 5\ntunes s4 c1\npitch 80 118\nbreath 0 2 3\nbreathw 150\n"

    assert.deepStrictEqual(lines(steadyVoice(installed)), [
      "language de",
      "tunes s4 c1",
      "pitch 80 118",
      "flutter 0",
      "roughness 2"
    ])
  })
  it("has a variant's throat instead of its language's", () => {
    const voice = steadyVoice("language ru\nspeed 95\nreplace 03 a a#\n", "gender female\npitch 142 220\nroughness 0")

    assert.deepStrictEqual(lines(voice), [
      "language ru",
      "replace 03 a a#",
      "gender female",
      "pitch 142 220",
      "flutter 0",
      "roughness 0"
    ])
  })
  it("is no rougher than espeak's own voice", () => {
    assert.include(lines(steadyVoice("language en", "roughness 3")), "roughness 2")
  })
})
