/** A voice that takes longer to speak than to be heard: whole answers on every route, and a refusal of what is played. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { starling } from "../../dev/fixtures/starling.ts"
import { connectLive } from "../support/live.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"
import { writeTinyKokoro } from "../support/tiny-voices.ts"

let fleet: SpeechFleet
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "starling-test-"))
  const Folder = join(folder, "slow")
  mkdirSync(Folder)
  writeTinyKokoro(Folder)
  const Voices = [
    { Id: "slow", Locale: "en-US", Gender: "female", Speaker: "af_one" },
    { Id: "lento", Locale: "es-ES", Gender: "female", Speaker: "af_one" }
  ]
  fleet = await startSpeechFleet({
    VOICES_MODELS: JSON.stringify([{ Id: "slow", Folder, Threads: 1, RealTime: false, Voices }])
  })
})
afterAll(async () => {
  await fleet.remove()
  rmSync(folder, { recursive: true })
})

const text = "Good morning to you."
const own = { input: text, voice_id: "slow" }
const openAi = { input: text, voice: "slow", model: "tts-3.0" }
const elevenLabs = { text }
const cartesia = (format: object) => ({
  model_id: "sonic-3",
  transcript: text,
  voice: { mode: "id", id: "slow" },
  output_format: { sample_rate: 24_000, ...format }
})
const raw = { container: "raw", encoding: "pcm_s16le" }

describe("a voice that takes longer to speak than to be heard", () => {
  it.each([
    ["/v1/audio/speech", own],
    ["/v1/audio/speech", openAi],
    ["/v1/audio/speech", { ...openAi, response_format: "wav" }],
    ["/v1/audio/dialogue", { turns: [own, { input: "Hello.", voice_id: "henry" }] }],
    ["/v1/audio/captions", own],
    ["/v1/text-to-speech/slow", elevenLabs],
    ["/v1/text-to-speech/slow/with-timestamps", elevenLabs],
    ["/tts/bytes", cartesia(raw)],
    ["/tts/bytes", cartesia({ ...raw, container: "wav" })]
  ])("answers with all of it on %s: %j", async (path, body) => {
    const answer = await fleet.post(path, body)
    assert.strictEqual(answer.status, 200)
    assert.isNotEmpty(await answer.text())
    assert.strictEqual(await fleet.metric("speech_underruns_total"), 0)
  })

  it.each([
    ["/v1/audio/stream", own],
    ["/v1/audio/stream/with-timestamps", own],
    ["/v1/audio/speech", { ...openAi, stream_format: "sse" }],
    ["/v1/text-to-speech/slow/stream", elevenLabs],
    ["/v1/text-to-speech/slow/stream/with-timestamps", elevenLabs],
    ["/tts/sse", cartesia(raw)]
  ])("is refused by name on %s: %j", async (path, body) => {
    const before = await fleet.metric("speech_characters_total")
    const answer = await fleet.post(path, body)
    const refusal = await answer.text()
    assert.strictEqual(answer.status, 400, refusal)
    assert.include(refusal, "voice_not_real_time")
    assert.include(refusal, "the voice slow takes longer to speak than to be heard")
    assert.strictEqual(await fleet.metric("speech_characters_total"), before)
  })

  it("is waited for by many callers at once, who are not told to come back", async () => {
    const refused = await fleet.metric("speech_refusals_total")
    const answers = Array.from({ length: 24 }, (_, nth) => fleet.speak({ ...own, input: `${text} ${nth}.` }))
    for (const { audio_duration_ms: durationMs } of await Promise.all(answers)) assert.isAbove(durationMs, 0)
    assert.strictEqual(await fleet.metric("speech_refusals_total"), refused)
    assert.strictEqual(await fleet.metric("speech_streams_active"), 0)
  })

  it("is refused live, and leaves the connection to another voice", async () => {
    const client = await connectLive(fleet)
    const start = { type: "context.start", context_id: "a", output_format: "pcm_24000" } as const
    client.send({ ...start, voice_id: "slow" })
    const refusal = await client.next(({ type }) => type === "error")
    assert.include(JSON.stringify(refusal), "voice_not_real_time")
    client.send(
      { ...start, voice_id: "henry" },
      { type: "text", context_id: "a", text },
      { type: "end", context_id: "a" }
    )
    await client.next(({ type }) => type === "done")
    client.socket.close()
  })

  it("is told from others in the list, and by say, which asks for all of it at once", async () => {
    const headers = { authorization: `Bearer ${fleet.token}` }
    const list = (await (await fetch(`${fleet.url}/v1/voices?type=shared`, { headers })).json()) as {
      readonly voices: ReadonlyArray<{ readonly id: string; readonly real_time?: boolean }>
    }
    const slow = list.voices.filter(({ real_time: isRealTime }) => isRealTime === false).map(({ id }) => id)
    assert.deepStrictEqual(slow, ["lento", "slow"])
    const listed = await starling(fleet.home, "say", "--voices")
    assert.match(listed.out, /^slow +en-US +female +neural, whole answers only$/mu)
    const file = join(folder, "slow.mp3")
    const said = await starling(fleet.home, "say", text, "--voice", "slow", "-o", file, "--marks")
    assert.deepStrictEqual([said.code, said.out.trim()], [0, text])
    const asked = await starling(fleet.home, "say", "Hola.", "--language", "es", "-o", join(folder, "hola.mp3"))
    assert.strictEqual(asked.code, 0, asked.error)
  })

  it("reads words of its language for another voice in whole answers, not in a stream", async () => {
    const isSame = async (words: string) => {
      const body = { input: `<speak>Hello ${words}</speak>`, voice_id: "selma", output_format: "pcm_24000" }
      const { audio_data: whole } = await fleet.speak(body)
      return (await fleet.listen(body)).audio.equals(Buffer.from(whole, "base64"))
    }
    assert.isTrue(await isSame('<lang xml:lang="fr-FR">bonjour</lang>'))
    assert.isFalse(await isSame('<lang xml:lang="es-ES">buenos días</lang>'))
  })
})
