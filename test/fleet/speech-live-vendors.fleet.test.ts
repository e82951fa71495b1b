/**
 * Speech in the messages of ElevenLabs and Cartesia, live and by HTTP. Their clients, unmodified, are among the judges.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { connectLive } from "../support/live.ts"
import { type SpeechFleet, startSpeechFleet } from "../support/speech.ts"

type Json = Readonly<Record<string, unknown>>

let fleet: SpeechFleet

beforeAll(async () => {
  fleet = await startSpeechFleet()
})
afterAll(() => fleet.remove())

const bytesIn = (got: ReadonlyArray<{ readonly message: Json }>) =>
  got.reduce((sum, { message }) => sum + Buffer.from(String(message["audio"] ?? ""), "base64").length, 0)

describe("ElevenLabs' messages", () => {
  const key = () => ({ "xi-api-key": fleet.token })
  const connectTo = (path: string) => connectLive<Json, Json>({ url: fleet.url, path, headers: key(), protocols: [] })

  it("bring audio with the times of its characters, the last one, and the close", async () => {
    const client = await connectTo(
      "/v1/text-to-speech/henry/stream-input?model_id=eleven_flash_v2_5&output_format=pcm_24000"
    )
    client.send({ text: " ", voice_settings: { stability: 0.5, speed: 1 }, xi_api_key: null })
    client.send(
      { text: "Hello there. ", try_trigger_generation: true },
      { text: "How are you? ", flush: true },
      { text: "" }
    )
    await client.next(({ isFinal }) => isFinal === true)
    assert.strictEqual((await client.closed).code, 1_000)
    let [atMs, chars, bytes] = [0, "", 0]
    for (const { message } of client.got) {
      bytes += Buffer.from(String(message["audio"] ?? ""), "base64").length
      const alignment = message["alignment"] as {
        chars: Array<string>
        charStartTimesMs: Array<number>
        charDurationsMs: Array<number>
      } | null
      if (alignment === null) continue
      chars += alignment.chars.join("")
      assert.isTrue(alignment.charStartTimesMs.every((start) => start >= 0))
      atMs += (alignment.charStartTimesMs.at(-1) ?? 0) + (alignment.charDurationsMs.at(-1) ?? 0)
    }
    assert.strictEqual(chars, "Hello there. How are you? ")
    assert.isAtMost(atMs, bytes / 48)
    assert.isAbove(atMs, 1_000)
  })

  it("bring several contexts, each with its own last message", async () => {
    const client = await connectTo("/v1/text-to-speech/henry/multi-stream-input?output_format=mp3_44100_128")
    client.send({ text: "" })
    for (const context_id of ["a", "b"]) {
      client.send({ text: " ", context_id }, { text: "Hello there. ", context_id }, { text: "", context_id })
      client.send({ context_id, flush: true }, { context_id, close_context: true })
    }
    for (const id of ["a", "b"]) {
      await client.next(({ contextId, isFinal }) => isFinal === true && contextId === id)
      assert.isTrue(
        client.got.some(({ message }) => message["contextId"] === id && typeof message["audio"] === "string")
      )
    }
    client.send({ close_socket: true })
    assert.strictEqual((await client.closed).code, 1_000)
  })

  it("take SSML where the address asks for it, and refuse before the handshake what is no answer to that", async () => {
    const path = "/v1/text-to-speech/henry/stream-input?output_format=pcm_24000&enable_ssml_parsing"
    const refused = await connectTo(`${path}=perhaps`).then(
      () => "accepted",
      (error: Error) => error.message
    )
    assert.strictEqual(refused, "refused with 400")
    const bytesOf = async (asked: string) => {
      const client = await connectTo(`${path}=${asked}`)
      client.send({ text: 'Hello. <break time="600ms"/> ' }, { text: "Bye. " }, { text: "" })
      await client.next(({ isFinal }) => isFinal === true)
      assert.strictEqual((await client.closed).code, 1_000)
      return bytesIn(client.got)
    }
    const [paused, read] = [await bytesOf("true"), await bytesOf("False")]
    // Two words and the pause; without SSML the tag is read out.
    assert.isAbove(paused, 48 * 900)
    assert.isAbove(read, paused)
  })

  it("bring a moment of silence for signs that nobody says, and nothing for white space", async () => {
    const bytesOf = async (...texts: ReadonlyArray<string>) => {
      const client = await connectTo("/v1/text-to-speech/henry/stream-input?output_format=pcm_24000")
      client.send(...texts.map((text) => ({ text })), { text: "" })
      await client.next(({ isFinal }) => isFinal === true)
      return bytesIn(client.got)
    }
    assert.strictEqual(await bytesOf(" ", "... "), 4_800)
    assert.strictEqual(await bytesOf(" "), 0)
  })

  it("say what is wrong, and close a connection that could not begin", async () => {
    const client = await connectTo("/v1/text-to-speech/nobody/stream-input")
    client.send({ text: "Hello. " })
    assert.strictEqual((await client.closed).code, 1_008)
    assert.deepInclude(client.got[0]?.message, { error: "voice_not_found", message: "no voice nobody" })
  })
})

describe("Cartesia's messages", () => {
  const request = (context_id: string, transcript: string, more: Json = {}) => ({
    context_id,
    transcript,
    model_id: "sonic-3",
    voice: { mode: "id", id: "henry" },
    output_format: { container: "raw", encoding: "pcm_f32le", sample_rate: 24_000 },
    ...more
  })
  const connectCartesia = () =>
    connectLive<Json, Json>({
      url: fleet.url,
      path: `/tts/websocket?api_key=${fleet.token}&cartesia_version=2025-04-16`,
      protocols: []
    })

  it("bring chunks of floats, timestamps, the end of a flush, and the end", async () => {
    const client = await connectCartesia()
    client.send(request("a", "Hello there. ", { continue: true, add_timestamps: true }))
    client.send(request("a", "How are you?", { continue: true, flush: true }), request("a", "", { continue: false }))
    await client.next(({ context_id, type }) => type === "done" && context_id === "a")
    const own = client.got.map(({ message }) => message)
    const audio = Buffer.concat(own.map(({ data }) => Buffer.from(String(data ?? ""), "base64")))
    const samples = new Float32Array(audio.buffer.slice(audio.byteOffset, audio.byteOffset + audio.length))
    assert.isAbove(samples.length, 24_000)
    assert.isTrue(samples.every((sample) => sample >= -1 && sample <= 1))
    assert.isTrue(samples.some((sample) => Math.abs(sample) > 0.05))
    const spoken = own.flatMap(
      ({ word_timestamps: timed }) => (timed as { words: Array<string> } | undefined)?.words ?? []
    )
    assert.deepStrictEqual(spoken, ["Hello", "there.", "How", "are", "you?"])
    assert.strictEqual(own.filter(({ flush_id, type }) => type === "flush_done" && flush_id === 1).length, 1)
    client.socket.close()
  })

  it("bring a moment of silence for signs that nobody says", async () => {
    const client = await connectCartesia()
    client.send(request("a", "...", { continue: false }))
    assert.deepInclude(await client.next(({ type }) => type === "done" || type === "error"), { type: "done" })
    assert.isTrue(client.got.some(({ message }) => message["type"] === "chunk"))
    client.socket.close()
  })

  it("cancel a context, and say what is wrong with a request by the path of each field", async () => {
    const client = await connectCartesia()
    client.send(request("a", "Nobody minds the gulls. ".repeat(200), { continue: true }))
    await client.next(({ type }) => type === "chunk")
    client.send({ context_id: "a", cancel: true })
    await client.next(({ type }) => type === "done")
    client.send({ context_id: "b", transcript: 1, voice: "henry" })
    const error = await client.next(({ type }) => type === "error")
    for (const path of ["transcript", "model_id", "output_format"]) assert.include(String(error["message"]), path)
    client.socket.close()
  })
})
