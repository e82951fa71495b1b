/** A fleet that speaks, and a caller's view of its speech API. */
import { type Home, newHome, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"

export interface Mark {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly start_time: number
  readonly end_time: number
  readonly value: string
  readonly turn?: number
}

export interface Sentence extends Mark {
  readonly chunks: ReadonlyArray<Mark>
}

export interface WholeAnswer {
  readonly audio_data: string
  readonly audio_format: string
  readonly output_format?: string
  readonly billable_characters_count: number
  readonly audio_duration_ms: number
  readonly speech_marks: Mark & { readonly chunks: ReadonlyArray<Sentence> }
}

export interface Refusal {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly fields?: Readonly<Record<string, string>>
  }
  readonly request_id: string
}

/** The result of a client of the timestamps stream. */
export interface Heard {
  readonly audio: Buffer
  readonly marks: ReadonlyArray<Mark>
  readonly durationMs: number
  readonly billable: number
}

export interface SpeechFleet {
  readonly url: string
  readonly token: string
  readonly roleBus: RunningFleet["roleBus"]
  readonly pid: number
  readonly log: () => string
  readonly post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Response>
  /** A whole answer; anything but 200 is a failure of the test. */
  readonly speak: (body: unknown, path?: string) => Promise<WholeAnswer>
  readonly listen: (body: unknown) => Promise<Heard>
  readonly refusal: (path: string, body: unknown) => Promise<Refusal & { readonly status: number }>
  readonly home: Home
  readonly tokenOf: (...parameters: ReadonlyArray<string>) => Promise<string>
  /** The sum over all series whose line holds every one of the labels. */
  readonly metric: (name: string, ...labels: ReadonlyArray<string>) => Promise<number>
  readonly isReady: () => Promise<boolean>
  readonly stop: RunningFleet["stop"]
  readonly remove: () => Promise<void>
}

const json = "application/json"

/**
 * What the tests of speech start, unless they name others. The voice of a model is left out where nobody hears it, nor
 * lists all voices.
 */
export const speechFleetDefaults = {
  FLEET_ROLES: JSON.stringify(["speech-api", "speech-sequencer", "speech-synthesizer"]),
  // A machine with other tests is slow; refusals for that are not under test.
  SPEECH_API_FIRST_SOUND_SECONDS_MAX: "30"
}

export const startSpeechFleet = async (
  changes: Readonly<Record<string, string | undefined>> = {}
): Promise<SpeechFleet> => {
  const home: Home = newHome({ ...speechFleetDefaults, ...changes })
  const fleet = await startFleet(home)
  const { speech: url, token, metrics } = fleet.ready

  const post: SpeechFleet["post"] = (path, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": json, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  const good = async (path: string, body: unknown) => {
    const response = await post(path, body)
    if (response.status === 200) return response
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  }
  return {
    url,
    token,
    roleBus: fleet.roleBus,
    pid: fleet.pid,
    log: fleet.log,
    post,
    speak: async (body, path = "/v1/audio/speech") => (await (await good(path, body)).json()) as WholeAnswer,
    listen: async (body) => heard(await (await good("/v1/audio/stream/with-timestamps", body)).text()),
    refusal: async (path, body) => {
      const response = await post(path, body)
      return { status: response.status, ...((await response.json()) as Refusal) }
    },
    home,
    tokenOf: async (...parameters) => {
      const made = await starling(home, "token", "make", ...parameters)
      if (made.code !== 0) throw new Error(made.error)
      return made.out.trim()
    },
    metric: async (name, ...labels) => sumOf(await (await fetch(`${metrics}/metrics`)).text(), name, labels),
    isReady: async () => (await fetch(`${metrics}/readyz`)).status === 200,
    stop: fleet.stop,
    remove: async () => {
      await fleet.stop("SIGTERM")
      home.remove()
    }
  }
}

export const sumOf = (exposition: string, name: string, labels: ReadonlyArray<string> = []) =>
  exposition
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0)

interface SpeechEvent {
  readonly type: string
  readonly audio?: string
  readonly speech_marks?: ReadonlyArray<Mark>
  readonly audio_duration_ms?: number
  readonly billable_characters_count?: number
}

export interface Listener {
  readonly take: (text: string) => void
  readonly heard: () => Heard
  readonly comments: () => number
  /** Of audio. */
  readonly bytes: () => number
  readonly isDone: () => boolean
}

/** Reads server-sent events as they come, in pieces of any size. */
export const listener = (): Listener => {
  const audio: Array<Buffer> = []
  const marks: Array<Mark> = []
  let rest = ""
  let comments = 0
  let last: SpeechEvent | undefined
  const event = (block: string) => {
    if (block.startsWith(":")) return void (comments += 1)
    const lines = block.split("\n")
    const data = lines.find((line) => line.startsWith("data: "))?.slice("data: ".length) ?? ""
    if (last?.type === "speech.done") throw new Error(`after the end came ${block.slice(0, 80)}`)
    last = JSON.parse(data) as SpeechEvent
    if (lines[0] !== `event: ${last.type}`) throw new Error(`an event of two types: ${block.slice(0, 80)}`)
    if (last.audio !== undefined) audio.push(Buffer.from(last.audio, "base64"))
    marks.push(...(last.speech_marks ?? []))
    return undefined
  }
  return {
    take: (text) => {
      const blocks = (rest + text).split("\n\n")
      rest = blocks.pop() ?? ""
      for (const block of blocks) event(block)
    },
    heard: () => {
      if (last?.type !== "speech.done") throw new Error(`the stream ended with ${JSON.stringify(last).slice(0, 300)}`)
      const { audio_duration_ms: durationMs = 0, billable_characters_count: billable = 0 } = last
      return { audio: Buffer.concat(audio), marks, durationMs, billable }
    },
    comments: () => comments,
    bytes: () => audio.reduce((sum, { length }) => sum + length, 0),
    isDone: () => last?.type === "speech.done"
  }
}

const heard = (text: string): Heard => {
  const events = listener()
  events.take(text)
  return events.heard()
}

export const wordsOf = (answer: WholeAnswer): ReadonlyArray<Mark> =>
  answer.speech_marks.chunks.flatMap(({ chunks }) => chunks)

/** The faults of an input's marks; empty when there are none. */
export const faultsOfMarks = (
  inputs: ReadonlyArray<string>,
  marks: ReadonlyArray<Mark>,
  durationMs: number
): ReadonlyArray<string> => {
  const faults: Array<string> = []
  let before: Mark | undefined
  for (const mark of marks) {
    const input = inputs[mark.turn ?? 0] ?? ""
    const shown = JSON.stringify(mark)
    if (mark.type !== "word") faults.push(`not a word: ${shown}`)
    if (input.slice(mark.start, mark.end) !== mark.value) faults.push(`not that slice of the input: ${shown}`)
    if (mark.value.trim() === "") faults.push(`of nothing: ${shown}`)
    if (mark.end_time < mark.start_time) faults.push(`ends before it begins: ${shown}`)
    if (mark.end_time > durationMs + 0.1) faults.push(`after the end of the audio: ${shown}`)
    if (before !== undefined) {
      if (mark.start_time < before.end_time) faults.push(`overlaps in time: ${JSON.stringify(before)} ${shown}`)
      const isSameTurn = (mark.turn ?? 0) === (before.turn ?? 0)
      if (isSameTurn ? mark.start < before.end : (mark.turn ?? 0) < (before.turn ?? 0)) {
        faults.push(`overlaps in the text: ${JSON.stringify(before)} ${shown}`)
      }
    }
    before = mark
  }
  return faults
}

/** Letters and digits of the input without a mark. `from` and `to` bound the spoken part. */
export const unmarked = (input: string, marks: ReadonlyArray<Mark>): string => {
  let rest = input
  for (const { start, end } of marks.toReversed()) {
    rest = rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end)
  }
  return rest
    .replaceAll(/<[^>]*>/gu, " ")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
}
