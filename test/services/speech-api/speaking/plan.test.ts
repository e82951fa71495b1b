import { Result } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { audioFormats } from "#speech/audio"
import { speechModels } from "#speech/contract"
import type { Order } from "../../../../services/speech-api/speaking/plan.ts"
import { dialogue, plan, planned, refused, speech, stream, timestamps, planAtMost } from "./planned-orders.ts"

describe("the model", () => {
  it.each([
    [undefined, speech, "tts-3.0"],
    [undefined, stream, "tts-3.0"],
    [undefined, timestamps, "tts-3.0"],
    [undefined, dialogue, "tts-dialogue-1.0"],
    ["tts-3.2", timestamps, "tts-3.2"],
    ["simba-3.0", timestamps, "tts-3.0"],
    ["simba-3.2", stream, "tts-3.2"],
    ["simba-base", stream, "tts-english"],
    ["simba-turbo", speech, "tts-english"],
    ["simba-english", speech, "tts-english"],
    ["simba-multilingual", stream, "tts-multilingual"],
    ["simba-dialogue-1.0", dialogue, "tts-dialogue-1.0"]
  ] as const)("%s on %s is %s", (model, route, id) => {
    assert.strictEqual(planned(model === undefined ? {} : { model }, route).model.id, id)
  })

  it.each([
    ["tts-4.0", speech, "validation_failed"],
    ["constructor", speech, "validation_failed"],
    ["TTS-3.0", speech, "validation_failed"],
    ["tts-english", timestamps, "speech_marks_unsupported"],
    ["simba-multilingual", timestamps, "speech_marks_unsupported"],
    ["tts-dialogue-1.0", speech, "validation_failed"],
    ["tts-dialogue-1.0", timestamps, "validation_failed"],
    ["tts-3.0", dialogue, "validation_failed"]
  ] as const)("%s on %s is refused with %s", (model, route, code) => {
    const { status, code: found } = refused({ model }, route)
    assert.deepStrictEqual({ status, found }, { status: 400, found: code })
  })

  it("may be named, by each of its names, on the routes of its list, and on no others", () => {
    for (const { id, aliases, routes } of speechModels) {
      for (const model of [id, ...aliases]) {
        for (const route of [speech, stream, timestamps, dialogue] as const) {
          assert.strictEqual(Result.isSuccess(plan({ model }, route)), routes.includes(route), `${model} on ${route}`)
        }
      }
    }
  })
})

describe("the format", () => {
  it.each([
    [undefined, "wav_24000"],
    ["wav", "wav_24000"],
    ["mp3", "mp3_24000_64"],
    ["ogg", "ogg_24000"],
    ["aac", "aac_24000"],
    ["pcm", "pcm_24000"]
  ] as const)("of a whole answer with audio_format %s is %s, whatever the Accept header", (audio_format, name) => {
    const order = audio_format === undefined ? {} : { audio_format }
    assert.strictEqual(planned(order, speech, "audio/aac").format.name, name)
    assert.strictEqual(planned(order, dialogue, "image/png").format.name, name)
    assert.strictEqual(planned({ ...order, output_format: "pcm_8000" }).format.name, "pcm_8000")
  })

  it.each([
    [undefined, "mp3_24000_64"],
    ["", "mp3_24000_64"],
    ["*/*", "mp3_24000_64"],
    ["audio/*", "mp3_24000_64"],
    ["audio/mpeg", "mp3_24000_64"],
    ["AUDIO/MPEG", "mp3_24000_64"],
    ["audio/ogg", "ogg_24000"],
    ["audio/aac", "aac_24000"],
    ["audio/pcm", "pcm_24000"],
    ["audio/L16; rate=24000", "pcm_24000"],
    ["audio/basic", "ulaw_8000"],
    ["audio/PCMA", "alaw_8000"],
    ["audio/flac", "flac_24000"],
    ["audio/wav, audio/ogg", "ogg_24000"],
    ["audio/mpeg;q=0.2, audio/aac;q=0.9", "aac_24000"],
    ["audio/ogg, audio/aac", "ogg_24000"],
    ["audio/ogg;q=0, */*;q=0.1", "mp3_24000_64"]
  ])("of a stream that accepts %s is %s", (accept, name) => {
    for (const route of [stream, timestamps] as const) {
      assert.strictEqual(planned({}, route, accept).format.name, name)
      assert.strictEqual(planned({ output_format: "ulaw_8000" }, route, accept).format.name, "ulaw_8000")
    }
  })

  it.each(["audio/wav", "application/json", "audio/mpeg;q=0", "text/event-stream"])(
    "does not exist for a stream that accepts only %s",
    (accept) => {
      const { status, code } = refused({}, stream, accept)
      assert.deepStrictEqual({ status, code }, { status: 400, code: "bad_request" })
    }
  )

  it("is any, so mp3, for an event stream that is accepted as such", () => {
    assert.strictEqual(planned({}, timestamps, "text/event-stream").format.name, "mp3_24000_64")
    assert.strictEqual(planned({}, timestamps, "text/event-stream, audio/ogg").format.name, "ogg_24000")
    assert.strictEqual(refused({}, timestamps, "application/json").code, "bad_request")
  })

  it("is any in the table, on a stream any except wav", () => {
    for (const { name, isStreamable } of audioFormats) {
      assert.strictEqual(planned({ output_format: name }).format.name, name)
      const onStream = plan({ output_format: name }, stream)
      assert.strictEqual(Result.isSuccess(onStream), isStreamable, name)
    }
    assert.property(refused({ output_format: "wav_48000" }, stream).fields, "output_format")
    assert.property(refused({ output_format: "mp3" }).fields, "output_format")
  })

  it("has 160 kbit/s and more only with the models of version 3", () => {
    for (const { name, bitrateKbps } of audioFormats) {
      const isFine = (bitrateKbps ?? 0) < 160
      assert.strictEqual(Result.isSuccess(plan({ output_format: name, model: "tts-english" })), isFine, name)
      assert.isTrue(Result.isSuccess(plan({ output_format: name, model: "tts-3.2" })), name)
    }
  })
})

describe("the input", () => {
  const long = (units: number): Order => ({ turns: [{ input: "x".repeat(units), voice_id: "henry" }] })

  it("may be as long as the route allows, in UTF-16 units", () => {
    assert.strictEqual(Result.getOrThrow(planAtMost(2_000, long(2_000))).billableCharacters, 2_000)
    const result = planAtMost(2_000, long(2_001))
    if (Result.isSuccess(result)) throw new Error("it was planned")
    assert.strictEqual(result.failure.status, 413)
    assert.deepStrictEqual(result.failure.details, { characters: 2_001, characters_max: 2_000 })
    assert.strictEqual(planned({ turns: [{ input: "🙂", voice_id: "henry" }] }).billableCharacters, 2)
  })

  it("of a dialogue is all its turns together, each with its own voice", () => {
    const turns = [
      { input: "Good day.", voice_id: "henry" },
      { input: "Guten Tag.", voice_id: "jonas" }
    ]
    const { billableCharacters, turns: spoken } = planned({ turns }, dialogue)
    assert.strictEqual(billableCharacters, 19)
    assert.deepStrictEqual(
      spoken.map(({ locale }) => locale),
      ["en-US", "de-DE"]
    )
    const tooLong = planAtMost(18, { turns }, dialogue)
    assert.isTrue(Result.isFailure(tooLong))
  })

  it("is said as words and not levelled unless options say otherwise", () => {
    const { textNormalization, loudnessNormalization } = planned({})
    assert.deepStrictEqual(
      { textNormalization, loudnessNormalization },
      { textNormalization: true, loudnessNormalization: false }
    )
    const options = { text_normalization: false, loudness_normalization: true }
    const asked = planned({ options })
    assert.isTrue(!asked.textNormalization && asked.loudnessNormalization)
  })
})
