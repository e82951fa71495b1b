import { Result } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { chooseFormat } from "../../../../services/cli/say/order.ts"

const chosen = (...given: Parameters<typeof chooseFormat>) => Result.getOrThrow(chooseFormat(...given))
const refused = (...given: Parameters<typeof chooseFormat>) =>
  Result.getOrElse(Result.flip(chooseFormat(...given)), () => "")

describe("the format of a file", () => {
  it.each([
    ["a.mp3", "mp3_24000_64"],
    ["a.ogg", "ogg_24000"],
    ["a.aac", "aac_24000"],
    ["a.pcm", "pcm_24000"],
    ["/somewhere.else/a.b.ULAW", "ulaw_8000"],
    ["call.alaw", "alaw_8000"],
    ["album.flac", "flac_24000"]
  ])("follows from its name: %s", (file, outputFormat) => {
    assert.deepStrictEqual(chosen(file, undefined, 20_000), { outputFormat, route: "stream", wavRateHz: undefined })
  })

  it("follows from --format, by container or in full", () => {
    assert.strictEqual(chosen("speech", "ogg", 1).outputFormat, "ogg_24000")
    assert.strictEqual(chosen("speech.raw", "pcm_16000", 1).outputFormat, "pcm_16000")
    assert.strictEqual(chosen("a.mp3", "mp3_22050_32", 1).outputFormat, "mp3_22050_32")
  })

  it("is WAV by the whole-answer route while the text fits, then PCM with a header of our own", () => {
    const answer = { outputFormat: "wav_24000", route: "answer" as const, wavRateHz: undefined }
    assert.deepStrictEqual(chosen("a.wav", undefined, 2_000), answer)
    const stream = { outputFormat: "pcm_24000", route: "stream" as const, wavRateHz: 24_000 }
    assert.deepStrictEqual(chosen("a.wav", undefined, 2_001), stream)
    const fast = { outputFormat: "pcm_48000", route: "stream" as const, wavRateHz: 48_000 }
    assert.deepStrictEqual(chosen("a.wav", "wav_48000", 2_001), fast)
  })

  it("is refused when it is missing, unknown, or contradicts the name", () => {
    assert.include(refused("speech.txt", undefined, 1), "speech.txt does not say what it is")
    assert.include(refused("-", undefined, 1), "name a --format")
    assert.include(refused("a.mp3", "mp3_1_1", 1), "--format mp3_1_1?")
    assert.include(refused("a.mp3", "ogg", 1), "would not be what its name says")
  })
})
