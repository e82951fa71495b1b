/**
 * Text spoken while it comes, at the pace of a model: from the token that ends the first clause to its first audio, from
 * a cancel to silence, and how many conversations at once keep that up; beside a server written by hand around the same
 * engine.
 */
import { join } from "node:path"
import { startHelper } from "../children.ts"
import { atMost, distribution, exactly, figuresOf, type Findings, joined, percentile } from "../figures.ts"
import { closedLoop, pause } from "../loops.ts"
import { withFleet } from "./fleet.ts"
import { prose } from "./texts.ts"

/** Tokens a second, as a model writes. */
const perSecond = 30
const conversations = { alone: 20, crowded: 80 }
const atOnce = 16
const heldMs = { cancel: 50, firstAudio: 300 }
// Ten minutes of speech.
const cancelledCharacters = 9_000

// The first sentence is a clause of its own in both servers.
const first = "Good morning to you."
const rest = " The harbour wakes before the town does. Nobody minds the gulls, for they were here first."
const tokensOf = (text: string) => text.match(/\s*\S+/gu) ?? []

interface Server {
  readonly name: string
  readonly url: string
  readonly protocols: ReadonlyArray<string>
  readonly begin: ReadonlyArray<object>
}

interface Heard {
  /** From the token that ends the first clause to the first audio. */
  readonly firstAudioMs: number
  /** From the cancel to the last audio after it; 0 when none came. */
  readonly silentMs: number
  readonly isWhole: boolean
}

const inContext = { context_id: "a" }

/** One conversation: the text, token by token; half of them are cancelled while ten minutes of it are spoken. */
const converse = async ({ begin, protocols, url }: Server, index: number): Promise<Heard> => {
  const socket = new WebSocket(url, [...protocols])
  const send = (message: object) => socket.send(JSON.stringify({ ...inContext, ...message }))
  const isCancelled = index % 2 === 1
  let [endedAtMs, firstAudioAtMs, cancelledAtMs, lastAudioAtMs] = [0, 0, 0, 0]
  let onAudio: () => void = () => undefined
  const over = new Promise<boolean>((resolve) => {
    socket.addEventListener("close", () => resolve(false))
    socket.addEventListener("message", ({ data }) => {
      const { type } = JSON.parse(String(data)) as { readonly type: string }
      if (type === "audio") lastAudioAtMs = performance.now()
      if (type === "audio") onAudio()
      if (type === "audio" && firstAudioAtMs === 0) firstAudioAtMs = lastAudioAtMs
      if (type === "done" || type === "cancelled") resolve(type === (isCancelled ? "cancelled" : "done"))
      if (type === "error") resolve(false)
    })
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve())
    socket.addEventListener("error", () => reject(new Error(`${url} took no connection`)))
  })
  for (const message of begin) send(message)
  const startedAtMs = performance.now()
  const tokens = [...tokensOf(first), ...tokensOf(rest)]
  for (const [nth, text] of tokens.entries()) {
    await pause(startedAtMs + (nth * 1_000) / perSecond - performance.now())
    send({ type: "text", text })
    if (nth === tokensOf(first).length) endedAtMs = performance.now()
  }
  if (isCancelled) {
    // So that much is still to be spoken when it comes.
    const more = new Promise<void>((resolve) => (onAudio = resolve))
    send({ type: "text", text: ` ${prose(cancelledCharacters)}` })
    await Promise.race([more, over])
    cancelledAtMs = performance.now()
  }
  send({ type: isCancelled ? "cancel" : "end" })
  const isWhole = await over
  // What comes after the answer to a cancel would be heard.
  if (isCancelled) await pause(100)
  socket.close()
  const silentMs = isCancelled ? Math.max(0, lastAudioAtMs - cancelledAtMs) : Number.NaN
  return { firstAudioMs: firstAudioAtMs - endedAtMs, silentMs, isWhole }
}

const measured = async (server: Server): Promise<Findings> => {
  const isOurs = server.name === "the fleet"
  await closedLoop(4, 2, (index) => converse(server, index))
  const findings: Array<Findings> = []
  for (const [crowd, count] of Object.entries(conversations)) {
    const width = crowd === "alone" ? 1 : atOnce
    const heard = await closedLoop(count, width, (index) => converse(server, index))
    const firstAudio = heard.map(({ firstAudioMs }) => firstAudioMs)
    const silent = heard.map(({ silentMs }) => silentMs).filter((ms) => !Number.isNaN(ms))
    const lost = heard.filter(({ isWhole }) => !isWhole).length
    const [p99First, p99Silent] = [percentile(firstAudio, 0.99), percentile(silent, 0.99)]
    const figure = figuresOf(`live, ${server.name}, ${width} at once`)
    findings.push({
      figures: [
        figure("first audio after its clause ended, p50", percentile(firstAudio, 0.5), "ms"),
        figure(
          "first audio after its clause ended, p99",
          p99First,
          "ms",
          isOurs ? atMost(heldMs.firstAudio, p99First, "ms") : {}
        ),
        figure("cancel to silence, p99", p99Silent, "ms", isOurs ? atMost(heldMs.cancel, p99Silent, "ms") : {}),
        figure("broken off", lost, "conversations", exactly(0, lost))
      ],
      series: [
        {
          title: `First audio after its clause ended, ${server.name}, ${width} at once, cumulative`,
          unit: "ms",
          lines: [{ name: server.name, values: distribution(firstAudio) }]
        }
      ]
    })
  }
  return joined(findings)
}

const start = { type: "context.start", voice_id: "henry", output_format: "pcm_24000" }

export const live = async (): Promise<Findings> => {
  const ours = await withFleet(
    ({ speech, token }) =>
      measured({
        name: "the fleet",
        url: `${speech.replace("http", "ws")}/v1/audio/live`,
        protocols: ["starling.speech.v1", `bearer.${token}`],
        begin: [start]
      }),
    // The text of every conversation is the same: none is to come from the cache.
    { SPEECH_API_CACHE_MEGABYTES: "0" }
  )
  const helper = await startHelper<{ readonly port: number }>(join(import.meta.dirname, "handmade-live-server.ts"))
  try {
    const url = `ws://127.0.0.1:${helper.said.port}`
    return joined([ours, await measured({ name: "by hand", url, protocols: [], begin: [] })])
  } finally {
    await helper.end()
  }
}
