import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { spokenOrder } from "../../../../services/speech-api/http/captions.ts"
import { call } from "../../../libs/http/api.ts"
import { listenersToken, spokenApi, token } from "../vendors/spoken-api.ts"

describe("the order of captions", () => {
  const turns = [{ voice_id: "selma", input: "Hello." }]

  it("is the one of their audio", () => {
    const one = spokenOrder({ voice_id: "selma", input: "Hello.", speed: 2, audio_format: "mp3" })
    assert.deepStrictEqual(Result.getOrThrow(one), { turns, speed: 2, audio_format: "mp3" })
    assert.deepStrictEqual(Result.getOrThrow(spokenOrder({ turns })), { turns })
  })

  it.each([
    [{}, "input"],
    [{ input: "Hello." }, "voice_id"],
    [{ voice_id: "selma" }, "input"],
    [{ turns, input: "Hello." }, "turns"],
    [{ turns, voice_id: "selma" }, "turns"]
  ])("%j is refused by its field %s", (request, field) => {
    const refused = spokenOrder(request)
    assert.deepStrictEqual(Result.isFailure(refused) && Object.keys(refused.failure.fields ?? {}), [field])
  })
})

layer(spokenApi())("POST /v1/audio/captions", (it) => {
  const post = (path: string, body: object, by = token) => {
    const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" }
    return call(path, { method: "POST", headers, body: JSON.stringify(body) })
  }
  const body = { voice_id: "henry", input: "Hello, you. Bye.", output_format: "pcm_24000" }

  it.effect("answers in WebVTT, with the tag of the audio", () =>
    Effect.gen(function* () {
      const audio = yield* post("/v1/audio/speech", body)
      const answer = yield* post("/v1/audio/captions", body)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "text/vtt; charset=utf-8")
      assert.strictEqual(answer.text, "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello, you. Bye.\n")
      assert.strictEqual(answer.headers.get("etag"), audio.headers.get("etag"))
    })
  )

  it.effect("answers in SubRip, and for a dialogue with the names of its voices", () =>
    Effect.gen(function* () {
      const { input, voice_id } = body
      const answer = yield* post("/v1/audio/captions", { format: "srt", turns: [{ input, voice_id }] })
      assert.strictEqual(answer.headers.get("content-type"), "application/x-subrip; charset=utf-8")
      assert.strictEqual(answer.text, "1\n00:00:00,000 --> 00:00:01,353\nHENRY: Hello, you. Bye.\n")
    })
  )

  it.effect("refuses as the speech route does", () =>
    Effect.gen(function* () {
      const statuses = [
        yield* post("/v1/audio/captions", body, listenersToken),
        yield* post("/v1/audio/captions", { ...body, voice_id: "nobody" }),
        yield* post("/v1/audio/captions", { ...body, format: "ass" }),
        yield* post("/v1/audio/captions", { ...body, input: " " }),
        yield* post("/v1/audio/captions", { ...body, input: "a".repeat(20_001) })
      ].map(({ status }) => status)
      assert.deepStrictEqual(statuses, [403, 404, 400, 400, 413])
    })
  )
})
