/** From the text of a live answer to its first sound, on the first voice, over what its bare engine needs in the same run. */
import { atMost, distribution, exactly, figuresOf, type Findings, percentile } from "../figures.ts"
import { closedLoop } from "../loops.ts"
import { withBareEngine } from "./bare.ts"
import { type Fleet, withFleet } from "./fleet.ts"

const voiceId = "heart"
const conversations = 60
const overBareMax = 1.5
const samplesPerMs = 24
/** 40 dB below full scale. */
const audible = 330

// Of one clause each, so that both speak the same at once.
const sentences: ReadonlyArray<string> = [
  "Good morning to you and to everybody else.",
  "The boats come home before the rain.",
  "Nobody remembered when the old clock had stopped.",
  "A small bakery opens early in the morning."
]
const sentence = (index: number) => sentences[index % sentences.length] ?? ""

const silentMsOf = (pcm: Int16Array) => {
  const at = pcm.findIndex((sample) => Math.abs(sample) > audible)
  return at === -1 ? Number.NaN : at / samplesPerMs
}

const ofBareEngine = () =>
  withBareEngine(async (engine) => {
    const heard = async (index: number) => {
      const { firstPcmMs, pcm } = await engine(sentence(index))
      return firstPcmMs + silentMsOf(pcm)
    }
    await closedLoop(10, 1, heard)
    return closedLoop(conversations, 1, heard)
  }, voiceId)

/** Milliseconds from the text to the first sound of who plays what comes; not a number if the answer broke off. */
const converse = async ({ speech, token }: Fleet, index: number): Promise<number> => {
  const socket = new WebSocket(`${speech.replace("http", "ws")}/v1/audio/live`, [
    "starling.speech.v1",
    `bearer.${token}`
  ])
  const send = (message: object) => socket.send(JSON.stringify({ context_id: "a", ...message }))
  let [sentAtMs, firstAtMs] = [0, 0]
  const parts: Array<Uint8Array> = []
  const isWhole = await new Promise<boolean>((resolve) => {
    socket.addEventListener("error", () => resolve(false))
    socket.addEventListener("close", () => resolve(false))
    socket.addEventListener("open", () => {
      send({ type: "context.start", voice_id: voiceId, output_format: "pcm_24000" })
      sentAtMs = performance.now()
      send({ type: "text", text: sentence(index) })
      send({ type: "end" })
    })
    socket.addEventListener("message", ({ data }) => {
      const { type, audio = "" } = JSON.parse(String(data)) as { readonly type: string; readonly audio?: string }
      if (type === "audio" && firstAtMs === 0) firstAtMs = performance.now()
      if (type === "audio") parts.push(Buffer.from(audio, "base64"))
      if (type === "done" || type === "error") resolve(type === "done")
    })
  })
  socket.close()
  return isWhole
    ? firstAtMs - sentAtMs + silentMsOf(new Int16Array(new Uint8Array(Buffer.concat(parts)).buffer))
    : Number.NaN
}

export const firstSound = async (): Promise<Findings> => {
  const bare = await ofBareEngine()
  const heard = await withFleet(
    async (fleet) => {
      // Whoever asks before the model is open waits for it.
      await closedLoop(10, 1, (index) => converse(fleet, index))
      return closedLoop(conversations, 1, (index) => converse(fleet, index))
    },
    { SPEECH_API_CACHE_MEGABYTES: "0" }
  )
  const well = heard.filter((ms) => !Number.isNaN(ms))
  const over = percentile(well, 0.5) / percentile(bare, 0.5)
  const lost = heard.length - well.length
  const figure = figuresOf(`first sound of a live answer, ${voiceId}`)
  return {
    figures: [
      figure("bare engine, p50", percentile(bare, 0.5), "ms"),
      figure("p50", percentile(well, 0.5), "ms"),
      figure("p99", percentile(well, 0.99), "ms"),
      figure("p50 over the bare engine's", over, "", atMost(overBareMax, over, "")),
      figure("broken off", lost, "conversations", exactly(0, lost))
    ],
    series: [
      {
        title: `First sound of a live answer, ${voiceId}, cumulative`,
        unit: "ms",
        lines: [
          { name: "fleet", values: distribution(well) },
          { name: "bare engine", values: distribution(bare) }
        ]
      }
    ]
  }
}
