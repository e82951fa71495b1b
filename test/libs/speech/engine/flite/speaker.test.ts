import { assert, describe, it } from "@effect/vitest"
import { fliteFeatures, plainAscii, utterances } from "../../../../../libs/speech/engine/flite/speaker.ts"
import { plainStyle as plain, voiceOf } from "../jobs.ts"

describe("a text for flite", () => {
  it("becomes ASCII of the same length", () => {
    assert.strictEqual(plainAscii("Noël “œuvre” — 😀 naïve 漢"), 'Noel "ouvre" ,    naive  ')
  })
})

describe("the utterances of a text for flite", () => {
  const cut = (text: string) => utterances(text).map(({ from, to }) => text.slice(from, to))

  it("end with sentences, but not with abbreviations", () => {
    assert.deepStrictEqual(cut("Dr. Smith met us at noon. We had tea."), ["Dr. Smith met us at noon. ", "We had tea."])
  })
  it("are short and lose nothing, whatever the text", () => {
    for (const text of ["", "a".repeat(20_000), "word ".repeat(500), "so, ".repeat(300), "A. ".repeat(300)]) {
      assert.strictEqual(cut(text).join(""), text)
      assert.isTrue(cut(text).every((part) => part.length <= 120))
    }
  })
})

const voice = voiceOf("flite", "slt")

describe("flite's features", () => {
  it("set the pitch in each voice's own way", () => {
    const higher = { ...plain, pitchPercent: 120 }

    assert.closeTo(fliteFeatures("kal16", voice, higher)["int_f0_target_mean"] ?? 0, 114, 0.001)
    assert.strictEqual(fliteFeatures("slt", voice, higher)["f0_shift"], 1.2)
  })
  it("leave the deviation of the pitch to the voice for a plain piece", () => {
    assert.deepStrictEqual(fliteFeatures("slt", voice, plain), { duration_stretch: 1, f0_shift: 1 })
  })
})
