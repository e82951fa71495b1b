import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { audioFormats, formatNamed, formatOfAccept, formatOfAudioFormat, paddedSamples } from "#speech/audio"

const row = (name: string) => {
  const format = formatNamed(name)
  assert.isDefined(format)
  const { deliveredName, sampleRateHz, bitrateKbps, mediaType, audioFormat, isStreamable } = format
  return [deliveredName, sampleRateHz, bitrateKbps, mediaType, audioFormat, isStreamable, format.gridSamples]
}

describe("the output formats", () => {
  it("are the 39 of the documentation", () => {
    const names = audioFormats.map(({ name }) => name)
    const mp3 = ["32", "64", "96", "128", "160", "192"].flatMap((kbps) =>
      ["22050", "24000", "44100"].map((rate) => `mp3_${rate}_${kbps}`)
    )
    const ogg = ["16", "24", "32", "48", "64", "96", "128"].map((kbps) => `ogg_24000_${kbps}`)
    const pcm = ["8000", "16000", "22050", "24000", "44100", "48000"].map((rate) => `pcm_${rate}`)
    const others = ["aac_24000", "ogg_24000", "ulaw_8000", "alaw_8000", "wav_24000", "wav_48000"]
    const flac = ["flac_24000", "flac_48000"]
    assert.strictEqual(names.length, 39)
    assert.deepStrictEqual(names.toSorted(), [...mp3, ...ogg, ...pcm, ...flac, ...others].toSorted())
  })

  it.each([
    ["pcm_8000", ["pcm_8000", 8_000, null, "audio/L16; rate=8000; channels=1", "pcm", true, 3]],
    ["pcm_22050", ["pcm_22050", 22_050, null, "audio/L16; rate=22050; channels=1", "pcm", true, 160]],
    ["pcm_24000", ["pcm_24000", 24_000, null, "audio/L16; rate=24000; channels=1", "pcm", true, 1]],
    ["pcm_44100", ["pcm_44100", 44_100, null, "audio/L16; rate=44100; channels=1", "pcm", true, 80]],
    ["mp3_24000_64", ["mp3_24000_64", 24_000, 64, "audio/mpeg", "mp3", true, 576]],
    ["mp3_24000_192", ["mp3_24000_160", 24_000, 160, "audio/mpeg", "mp3", true, 576]],
    ["mp3_22050_192", ["mp3_22050_160", 22_050, 160, "audio/mpeg", "mp3", true, (576 * 160) / 147]],
    ["mp3_44100_64", ["mp3_44100_64", 44_100, 64, "audio/mpeg", "mp3", true, (1_152 * 80) / 147]],
    ["mp3_44100_192", ["mp3_44100_192", 44_100, 192, "audio/mpeg", "mp3", true, (1_152 * 80) / 147]],
    ["alaw_8000", ["alaw_8000", 8_000, null, "audio/PCMA", "alaw", true, 3]],
    ["flac_24000", ["flac_24000", 24_000, null, "audio/flac", "flac", true, 1]],
    ["ogg_24000_32", ["ogg_24000_32", 24_000, 32, "audio/ogg", "ogg", true, 1]],
    ["wav_48000", ["wav_48000", 48_000, null, "audio/wav", "wav", false, 1]],
    ["ulaw_8000", ["ulaw_8000", 8_000, null, "audio/basic", "ulaw", true, 3]],
    ["ogg_24000", ["ogg_24000", 24_000, null, "audio/ogg", "ogg", true, 1]],
    ["aac_24000", ["aac_24000", 24_000, null, "audio/aac", "aac", true, 1_024]]
  ])("name the properties of %s", (name, expected) => assert.deepStrictEqual(row(name), expected))

  it("have no other names", () => assert.isUndefined(formatNamed("mp3_44100_320")))

  it.prop(
    "pad by less than one frame, and pad padded samples no further",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 30_000_000 }))],
    ([samples]) => {
      for (const format of audioFormats) {
        const padded = paddedSamples(format, samples)
        const isLeast = padded >= samples && padded - samples < format.gridSamples + 1
        // A whole number of samples at the rate of the format.
        const there = (padded * format.sampleRateHz) / 24_000
        const isWhole = Math.abs(there - Math.round(there)) < 0.5
        if (!isLeast || !isWhole) assert.fail(`${format.name}: ${samples} to ${padded}`)
        if (paddedSamples(format, padded) !== padded) assert.fail(`${format.name}: ${padded} is padded further`)
      }
    }
  )
})

describe("the default format", () => {
  it.each([
    [undefined, "mp3_24000_64"],
    ["", "mp3_24000_64"],
    ["*/*", "mp3_24000_64"],
    ["audio/*", "mp3_24000_64"],
    ["audio/mpeg", "mp3_24000_64"],
    ["AUDIO/OGG", "ogg_24000"],
    ["audio/aac", "aac_24000"],
    ["audio/pcm", "pcm_24000"],
    ["audio/L16; rate=24000", "pcm_24000"],
    ["audio/mpeg;q=0.1, audio/ogg;q=0.9", "ogg_24000"],
    ["text/html, audio/aac, audio/ogg", "aac_24000"],
    ["audio/mpeg;q=0, audio/ogg;q=0.5", "ogg_24000"],
    ["audio/wav", undefined],
    ["audio/mpeg;q=0, audio/*", "ogg_24000"],
    ["audio/*;q=0.1, audio/basic", "ulaw_8000"],
    ["audio/PCMA", "alaw_8000"],
    ["audio/flac, audio/mpeg;q=0.5", "flac_24000"],
    ["*/*;q=0.5, audio/mpeg;q=0", "ogg_24000"],
    ["text/event-stream", undefined],
    ["application/json", undefined]
  ])("for Accept %s is %s", (accept, name) => assert.strictEqual(formatOfAccept(accept)?.name, name))

  it.each([
    ["text/event-stream", "mp3_24000_64"],
    ["Text/Event-Stream; charset=utf-8", "mp3_24000_64"],
    ["text/*", "mp3_24000_64"],
    ["text/event-stream, */*", "mp3_24000_64"],
    ["application/json, text/event-stream", "mp3_24000_64"],
    ["text/event-stream, application/json;q=0.9, */*;q=0.1", "mp3_24000_64"],
    ["text/event-stream, audio/ogg", "ogg_24000"],
    ["text/event-stream, audio/ogg;q=0.2", "ogg_24000"],
    ["audio/aac;q=0.3, text/event-stream;q=0.1, audio/pcm;q=0.8", "pcm_24000"],
    ["text/event-stream, audio/mpeg;q=0", "ogg_24000"],
    ["text/event-stream, audio/wav", undefined],
    ["text/event-stream;q=0", undefined],
    ["audio/ogg", "ogg_24000"],
    ["application/json", undefined]
  ])("inside an event stream for Accept %s is %s", (accept, name) =>
    assert.strictEqual(formatOfAccept(accept, "text/event-stream")?.name, name)
  )

  it.each([
    ["wav", "wav_24000"],
    ["mp3", "mp3_24000_64"],
    ["ogg", "ogg_24000"],
    ["aac", "aac_24000"],
    ["pcm", "pcm_24000"],
    ["ulaw", "ulaw_8000"],
    ["alaw", "alaw_8000"],
    ["flac", "flac_24000"]
  ] as const)("for audio_format %s is %s", (audioFormat, name) =>
    assert.strictEqual(formatOfAudioFormat(audioFormat)?.name, name)
  )
})
