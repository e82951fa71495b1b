// Clients of speech in JavaScript, as their makers publish them, with nothing changed but the address, the key and the voice.
// Usage: speech.mjs <client> <url> <token>; prints a line of JSON with what each of its tasks brought, or why it failed.
import assert from "node:assert"

const text = "Good morning to you. The harbour wakes early. And now, rest."
const voice = "henry"
const silent = "..."

const bytesOf = async (body) => {
  const parts = []
  for await (const part of body) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}

const heard = (audio, more = {}) => ({ bytes: audio.length, ...more })

const refusal = async (call) => {
  try {
    await call()
  } catch (error) {
    return { status: error.statusCode ?? error.status ?? null }
  }
  return {}
}

const openai = async (url, token) => {
  const { default: OpenAI } = await import("openai")
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token })
  const asked = { model: "tts-1", voice: "alloy", response_format: "pcm" }
  const whole = async (input) => {
    const answer = await client.audio.speech.create({ ...asked, input, response_format: "wav" })
    return heard(Buffer.from(await answer.arrayBuffer()))
  }
  return {
    whole: () => whole(text),
    streamed: async () => heard(await bytesOf((await client.audio.speech.create({ ...asked, input: text })).body)),
    silent: () => whole(silent),
    refused: () => refusal(() => client.audio.speech.create({ ...asked, input: text, voice: "nobody" }))
  }
}

const elevenlabs = async (url, token) => {
  const { ElevenLabsClient } = await import("@elevenlabs/elevenlabs-js")
  const client = new ElevenLabsClient({ baseUrl: url, apiKey: token, maxRetries: 0 })
  const speech = client.textToSpeech
  const asked = { text, modelId: "eleven_flash_v2_5", outputFormat: "pcm_24000" }
  return {
    whole: async () => heard(await bytesOf(await speech.convert(voice, asked))),
    streamed: async () => heard(await bytesOf(await speech.stream(voice, asked))),
    timed: async () => {
      const whole = await speech.convertWithTimestamps(voice, asked)
      assert.strictEqual(whole.alignment.characters.join(""), text)
      const [audio, characters] = [[], []]
      for await (const part of await speech.streamWithTimestamps(voice, asked)) {
        audio.push(Buffer.from(part.audioBase64, "base64"))
        characters.push(...(part.alignment?.characters ?? []))
      }
      return heard(Buffer.concat(audio), { words: characters.join("").split(" ") })
    },
    voices: async () => {
      const { voices } = await client.voices.getAll()
      assert.ok(voices.some(({ voiceId }) => voiceId === voice))
      assert.strictEqual((await client.voices.get(voice)).voiceId, voice)
      const found = await client.voices.search({ search: voice, pageSize: 5 })
      assert.deepStrictEqual(
        found.voices.map(({ voiceId }) => voiceId),
        [voice]
      )
      assert.ok((await client.models.list()).some(({ canDoTextToSpeech }) => canDoTextToSpeech))
      return { voices: voices.length }
    },
    silent: async () =>
      heard(await bytesOf(await speech.convert(voice, { text: silent, outputFormat: "mp3_44100_128" }))),
    refused: () => refusal(() => speech.convert("nobody", asked))
  }
}

const cartesia = async (url, token) => {
  const { default: Cartesia } = await import("@cartesia/cartesia-js")
  const client = new Cartesia({ baseURL: url, apiKey: token })
  const raw = { container: "raw", encoding: "pcm_s16le", sample_rate: 24_000 }
  const asked = { model_id: "sonic-3", voice: { mode: "id", id: voice }, transcript: text, output_format: raw }
  const whole = async (transcript) => {
    const output_format = { container: "wav", encoding: "pcm_f32le", sample_rate: 44_100 }
    const answer = await client.tts.generate({ ...asked, transcript, output_format })
    return heard(Buffer.from(await answer.arrayBuffer()))
  }
  const spoken = async (events) => {
    const [audio, words] = [[], []]
    for await (const event of events) {
      if (event.type === "error") throw new Error(JSON.stringify(event))
      if (event.type === "chunk") audio.push(Buffer.from(event.data, "base64"))
      if (event.type === "timestamps") words.push(...event.word_timestamps.words)
      if (event.type === "done") break
    }
    return heard(Buffer.concat(audio), { words })
  }
  return {
    whole: () => whole(text),
    timed: async () => spoken(await client.tts.generateSSE({ ...asked, add_timestamps: true })),
    live: async () => {
      const socket = await client.tts.websocket()
      try {
        const { transcript: _, ...context } = asked
        const own = socket.context({ ...context, add_timestamps: true })
        for (const word of text.split(" ")) await own.push({ transcript: `${word} ` })
        await own.no_more_inputs()
        return await spoken(own.receive())
      } finally {
        socket.close()
      }
    },
    voices: async () => {
      const ids = []
      for await (const each of client.voices.list({ limit: 20 })) ids.push(each.id)
      assert.ok(ids.includes(voice) && new Set(ids).size === ids.length)
      assert.strictEqual((await client.voices.get(voice)).id, voice)
      return { voices: ids.length }
    },
    silent: () => whole(silent),
    refused: () => refusal(() => client.tts.generate({ ...asked, voice: { id: "nobody" } }))
  }
}

const livekit = (make, isLive = true) => {
  const frames = async (stream) => {
    const audio = []
    for await (const event of stream) {
      if (typeof event === "object" && event.frame !== undefined) {
        audio.push(Buffer.from(event.frame.data.buffer, event.frame.data.byteOffset, event.frame.data.byteLength))
      }
    }
    return heard(Buffer.concat(audio))
  }
  const live = async (said) => {
    const stream = (await make()).stream()
    for (const word of said.split(" ")) stream.pushText(`${word} `)
    stream.endInput()
    return frames(stream)
  }
  const whole = async (said) => frames((await make()).synthesize(said))
  return {
    whole: () => whole(text),
    ...(isLive ? { live: () => live(text) } : {}),
    silent: () => whole(silent)
  }
}

const ready = async () => (await import("@livekit/agents")).initializeLogger({ pretty: false, level: "error" })

const livekitElevenLabs = async (url, token) => {
  await ready()
  const { TTS } = await import("@livekit/agents-plugin-elevenlabs")
  return livekit(() => new TTS({ baseURL: `${url}/v1`, apiKey: token, voiceId: voice, encoding: "pcm_24000" }))
}

const livekitCartesia = async (url, token) => {
  await ready()
  const { TTS } = await import("@livekit/agents-plugin-cartesia")
  return livekit(() => new TTS({ baseUrl: url, apiKey: token, voice }))
}

const livekitOpenAi = async (url, token) => {
  await ready()
  const { TTS } = await import("@livekit/agents-plugin-openai")
  return livekit(() => new TTS({ baseURL: `${url}/v1`, apiKey: token }), false)
}

const clients = {
  "openai-js": openai,
  "elevenlabs-js": elevenlabs,
  "cartesia-js": cartesia,
  "livekit-elevenlabs-js": livekitElevenLabs,
  "livekit-cartesia-js": livekitCartesia,
  "livekit-openai-js": livekitOpenAi
}

const [name, url, token] = process.argv.slice(2)
const told = {}
for (const [task, act] of Object.entries(await clients[name](url, token))) {
  told[task] = await act().catch((error) => ({ error: `${error}`.slice(0, 600) }))
}
console.log(`told: ${JSON.stringify(told)}`)
process.exit(0)
