/** What a fleet keeps of finished speech, and the previews of voices, over HTTP. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { sharedVoices } from "#speech"
import { decodedTogether, type Encoded, lengthMs, rms } from "../support/speech-audio.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"
import { openStream } from "../support/speech-clients.ts"
import { modelVoice } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let fleet: SpeechFleet
beforeAll(async () => {
  fleet = await startSpeechFleet({
    ...modelVoice,
    SPEECH_API_CACHE_MEGABYTES: "16",
    SPEECH_API_CONCURRENCY_PER_WORKSPACE: "2"
  })
})
afterAll(() => fleet.remove())

const speech = "/v1/audio/speech"
const order = (changes: Readonly<Record<string, unknown>> = {}) => ({
  input: "Nobody speaks this twice. Not even once more.",
  voice_id: "henry",
  ...changes
})
const hits = () => fleet.metric("speech_cache_lookups_total", 'result="hit"')
const chunks = () => fleet.metric("speech_chunks_asked_total")

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${fleet.url}${path}`, { headers: { authorization: `Bearer ${fleet.token}`, ...headers } })

describe("a repeated request", () => {
  it("gets the same bytes and marks from the cache, by every route, and is not spoken again", async () => {
    for (const format of ["mp3_24000_64", "ogg_24000", "flac_24000"]) {
      const body = order({ output_format: format })
      const first = await fleet.speak(body)
      const [before, hitsBefore] = [await chunks(), await hits()]
      const again = await fleet.speak(body)
      assert.deepStrictEqual(again, first)
      const events = await fleet.listen(body)
      assert.strictEqual(events.audio.toString("base64"), first.audio_data)
      assert.strictEqual(events.durationMs, first.audio_duration_ms)
      assert.deepStrictEqual(
        events.marks.map(({ value, start_time: start }) => [value, start]),
        first.speech_marks.chunks.flatMap(({ chunks: words }) => words.map((word) => [word.value, word.start_time]))
      )
      const stream = await fleet.post("/v1/audio/stream", body)
      assert.isTrue(Buffer.from(await stream.arrayBuffer()).equals(events.audio))
      assert.isNotNull(stream.headers.get("age"))
      const openAi = { model: "tts-1", voice: "henry", input: body.input, response_format: "opus" }
      if (format === "ogg_24000") {
        const answer = await fleet.post(speech, openAi)
        assert.isTrue(Buffer.from(await answer.arrayBuffer()).equals(events.audio))
      }
      assert.strictEqual(await chunks(), before)
      assert.strictEqual((await hits()) - hitsBefore, format === "ogg_24000" ? 4 : 3)
    }
  })

  it("has the entity tag of the first, and another request another", async () => {
    const tagOf = async (body: unknown) => (await fleet.post(speech, body)).headers.get("etag")
    const tag = await tagOf(order())
    assert.match(tag ?? "", /^W\/"[\w-]{43}"$/u)
    assert.strictEqual(await tagOf(order()), tag)
    assert.notStrictEqual(await tagOf(order({ speed: 2 })), tag)
  })

  it("is answered with 412 and not spoken where If-None-Match names its answer, by every route, kept or not", async () => {
    const body = order({ input: "Whoever holds this need not ask again.", output_format: "pcm_24000" })
    const tag = (await fleet.post(speech, body)).headers.get("etag") ?? ""
    const counted = () => fleet.metric("speech_billable_characters_total")
    const [chunksBefore, countedBefore] = [await chunks(), await counted()]
    for (const named of [tag, `"other", ${tag}`, tag.replace("W/", "")]) {
      for (const route of [speech, "/v1/audio/stream", "/v1/audio/stream/with-timestamps"]) {
        const answer = await fleet.post(route, body, { "if-none-match": named })
        assert.deepStrictEqual([answer.status, answer.headers.get("etag")], [412, tag])
        const { error } = (await answer.json()) as { readonly error: { readonly code: string } }
        assert.strictEqual(error.code, "precondition_failed")
      }
    }
    const dialogue = { turns: [{ voice_id: "henry", input: "And this?" }], output_format: "pcm_24000" }
    const dialogueTag = (await fleet.post("/v1/audio/dialogue", dialogue)).headers.get("etag") ?? ""
    const again = await fleet.post("/v1/audio/dialogue", dialogue, { "if-none-match": dialogueTag })
    assert.strictEqual(again.status, 412)
    assert.strictEqual(await chunks(), chunksBefore + 1)
    assert.strictEqual(await counted(), countedBefore + "And this?".length)

    for (const other of ['W/"other"', "*"]) {
      const answer = await fleet.post(speech, body, { "if-none-match": other })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("etag"), tag)
      await answer.arrayBuffer()
    }
  })

  it("counts its characters, needs its scope, and takes a place", async () => {
    const body = order({ input: "Count me each time.", output_format: "pcm_24000" })
    await fleet.speak(body)
    const spoken = () => fleet.metric("speech_billable_characters_total")
    const before = await spoken()
    const hitsBefore = await hits()
    await fleet.speak(body)
    assert.strictEqual(await hits(), hitsBefore + 1)
    assert.strictEqual((await spoken()) - before, body.input.length)

    const reader = await fleet.tokenOf("--kind", "service", "--scope", "voices:read")
    const refused = await fleet.post(speech, body, { authorization: `Bearer ${reader}` })
    assert.strictEqual(refused.status, 403)

    const long = order({ input: "All work and no play makes a long text. ".repeat(400), output_format: "pcm_24000" })
    const held = await Promise.all([1, 2].map(() => openStream(fleet, "/v1/audio/stream", long)))
    try {
      assert.strictEqual((await fleet.post(speech, body)).status, 429)
    } finally {
      for (const { leave } of held) leave()
    }
    const isSpoken = async () => {
      const answer = await fleet.post(speech, body)
      await answer.arrayBuffer()
      return answer.status === 200
    }
    await until(isSpoken)
  })

  it("of another workspace is spoken for it", async () => {
    const body = order({ input: "Whose words are these?", output_format: "pcm_24000" })
    await fleet.speak(body)
    const token = await fleet.tokenOf("--workspace", "other", "--role", "member")
    const before = await hits()
    const answer = await fleet.post(speech, body, { authorization: `Bearer ${token}` })
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(await hits(), before)
  })
})

describe("the preview of every voice", () => {
  it("sounds at the address that the list names", async () => {
    const { voices } = (await (await get("/v1/voices")).json()) as {
      readonly voices: ReadonlyArray<{ readonly id: string; readonly preview_audio: string }>
    }
    // A model that came with Starling has voices beside these.
    assert.includeMembers(
      voices.map(({ id }) => id),
      sharedVoices.map(({ id }) => id)
    )
    const previews: Array<Encoded> = []
    for (const { id, preview_audio: address } of voices) {
      const answer = await get(address)
      assert.strictEqual(answer.status, 200, id)
      assert.strictEqual(answer.headers.get("content-type"), "audio/mpeg")
      const bytes = Buffer.from(await answer.arrayBuffer())
      assert.strictEqual(Number(answer.headers.get("content-length")), bytes.length)
      previews.push({ bytes, format: "mp3_24000" })
    }
    for (const [index, pcm] of (await decodedTogether(previews)).entries()) {
      const id = voices[index]?.id
      assert.isAbove(lengthMs(pcm), 1_000, id)
      assert.isAbove(rms(pcm.samples), 300, id)
    }
  })

  it("is 304 for who holds it, differs by language, and is refused for a language that the voice lacks", async () => {
    const first = await get("/v1/voices/henry/preview")
    const tag = first.headers.get("etag") ?? ""
    for (const named of [`"other", ${tag}`, tag.replace("W/", "")]) {
      const again = await get("/v1/voices/henry/preview", { "if-none-match": named })
      assert.strictEqual(again.status, 304)
      assert.strictEqual((await again.arrayBuffer()).byteLength, 0)
    }
    const german = await get("/v1/voices/henry/preview?locale=de", { "if-none-match": tag })
    assert.strictEqual(german.status, 200)
    assert.strictEqual((await get("/v1/voices/henry/preview?locale=zh-CN")).status, 400)
    assert.strictEqual((await get("/v1/voices/nobody/preview")).status, 404)
  })
})
