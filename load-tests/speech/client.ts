/** A client of the speech API on bare node:http: what it adds is what any client adds. */
import { Agent, type IncomingMessage, request } from "node:http"

export interface Target {
  readonly speech: string
  readonly token: string
}

export interface Order {
  readonly input: string
  readonly output_format: string
  readonly voice_id?: string
  readonly speed?: number
}

export interface Answer {
  readonly status: number
  /** From sending the request to the first byte of the body. */
  readonly firstByteMs: number
  readonly tookMs: number
  readonly body: Buffer
  /** Ended as an answer ends, and was not broken off. */
  readonly isWhole: boolean
  /** What the server says its stages took, in milliseconds. */
  readonly stages: Readonly<Record<string, number>>
}

// A small buffer of its own: a paced client is to leave what it does not play with the server.
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, highWaterMark: 8_192 } as object)

export const open = (target: Target, path: string, order: Order): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${target.token}`, "content-type": "application/json" }
    const sent = request(`${target.speech}${path}`, { method: "POST", agent, headers }, resolve)
    sent.on("error", reject)
    sent.end(JSON.stringify({ voice_id: "henry", ...order }))
  })

const unanswered: Answer = {
  status: 0,
  firstByteMs: Number.NaN,
  tookMs: Number.NaN,
  body: Buffer.alloc(0),
  isWhole: false,
  stages: {}
}

/** A request that got no answer has status 0. */
export const speak = async (target: Target, order: Order, path = "/v1/audio/stream"): Promise<Answer> => {
  const started = performance.now()
  const response = await open(target, path, order).catch(() => undefined)
  if (response === undefined) return unanswered
  let firstByteMs = Number.NaN
  const parts: Array<Buffer> = []
  const isWhole = await new Promise<boolean>((resolve) => {
    response.on("data", (part: Buffer) => {
      if (parts.length === 0) firstByteMs = performance.now() - started
      parts.push(part)
    })
    response.on("end", () => resolve(response.complete))
    response.on("error", () => resolve(false))
    response.on("close", () => resolve(response.complete))
  })
  return {
    status: response.statusCode ?? 0,
    firstByteMs,
    tookMs: performance.now() - started,
    body: Buffer.concat(parts),
    isWhole,
    stages: stagesOf(String(response.headers["server-timing"] ?? ""))
  }
}

const stagesOf = (header: string) =>
  Object.fromEntries([...header.matchAll(/(\w+);dur=([\d.]+)/gu)].map(([, stage, took]) => [stage, Number(took)]))

export interface WordMark {
  readonly start: number
  readonly end: number
  readonly start_time: number
  readonly end_time: number
  readonly value: string
}

export interface MarkedSpeech {
  readonly audio: Buffer
  readonly marks: ReadonlyArray<WordMark>
  /** Undefined when the stream did not end with `speech.done`. */
  readonly durationMs: number | undefined
}

interface SpeechEvent {
  readonly type: string
  readonly audio?: string
  readonly speech_marks?: ReadonlyArray<WordMark>
  readonly audio_duration_ms?: number
}

/** What the events of a timestamps stream say, put together. */
export const readEvents = (body: string): MarkedSpeech => {
  const events = [...body.matchAll(/^data: (.*)$/gmu)].map(([, json]) => JSON.parse(json ?? "{}") as SpeechEvent)
  return {
    audio: Buffer.concat(events.map(({ audio }) => Buffer.from(audio ?? "", "base64"))),
    marks: events.flatMap((event) => event.speech_marks ?? []),
    durationMs: events.find(({ type }) => type === "speech.done")?.audio_duration_ms
  }
}

export const speakTimed = async (target: Target, order: Order) => {
  const { body, firstByteMs, status } = await speak(target, order, "/v1/audio/stream/with-timestamps")
  return { speech: readEvents(body.toString("utf8")), firstByteMs, status }
}

interface WholeAnswer {
  readonly audio_data: string
  readonly audio_duration_ms: number
  readonly speech_marks: { readonly chunks: ReadonlyArray<{ readonly chunks: ReadonlyArray<WordMark> }> }
}

/** All at once, as voices speak that are slower than real time. */
export const speakWhole: typeof speakTimed = async (target, order) => {
  const { body, firstByteMs, status } = await speak(target, order, "/v1/audio/speech")
  if (status !== 200) return { speech: readEvents(""), firstByteMs, status }
  const answer = JSON.parse(body.toString("utf8")) as WholeAnswer
  const marks = answer.speech_marks.chunks.flatMap(({ chunks }) => chunks)
  const speech = { audio: Buffer.from(answer.audio_data, "base64"), marks, durationMs: answer.audio_duration_ms }
  return { speech, firstByteMs, status }
}

export const speakMarked = async (target: Target, order: Order): Promise<MarkedSpeech> =>
  (await speakTimed(target, order)).speech
