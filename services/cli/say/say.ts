/**
 * Has the running fleet speak a text, to a file or to the sound card, and prints the words as they are heard. Ctrl-C
 * ends the request at once and leaves no partial file.
 */
import { Effect, Fiber, Queue, Result, Schema, Stream } from "effect"
import { byQuality, findModel, WordMark } from "#speech/contract"
import { speechInputMax, type SpeechRequest, type StreamRequest } from "#speech/api"
import { defaultVoiceId, isSsml, sharedVoices } from "#speech"
import { CommandRefused, fileOf, note, print } from "../console.ts"
import { findFleet, type SpeechFleet } from "./client.ts"
import { type MarksShown, readOrder, type SayGiven, type SayOrder, type SpokenOrder } from "./order.ts"
import { openFile, openPlayer, type SaySink } from "./sinks.ts"
import { writeOut } from "../screen.ts"

export const say = Effect.fnUntraced(function* (given: SayGiven) {
  const order = yield* readOrder(given)
  const fleet = yield* findFleet
  if (order === undefined) return yield* printVoices(fleet)
  const file = order.file === undefined ? undefined : yield* openFile(yield* fileOf(order.file), order.format.wavRateHz)
  const spoken = yield* chosen(fleet, order)
  const durationMs = yield* speak(fleet, spoken, file ?? (yield* openPlayer), wordsOf(order))
  if (file === undefined) return
  // On standard error, because standard output carries the words.
  yield* note(`${file.path}: ${(durationMs / 1_000).toFixed(3)} s, ${file.bytes()} bytes`)
}, Effect.scoped)

const wordsOf = ({ text, marks }: SayOrder) =>
  showWords({
    text,
    marks,
    hasProgress: process.stderr.isTTY && !(marks !== undefined && process.stdout.isTTY),
    out: writeOut,
    // Our own numbers, and what clears the line.
    progress: (line) => void process.stderr.write(line)
  })

/** The voices of the catalogue, and the workspace's own. */
const voicesOf = Effect.fnUntraced(function* ({ api, call }: SpeechFleet) {
  const listed = yield* call(api.listVoices({ query: {} }))
  return "voices" in listed ? listed.voices : listed
})

/** The default voice is the fleet's best one, and the default model one that speaks with the voice. */
const chosen = Effect.fnUntraced(function* (fleet: SpeechFleet, { asked, ...order }: SayOrder) {
  const voices = yield* voicesOf(fleet)
  const voiceId = asked.voice_id ?? defaultVoice(voices, asked.language)
  const voice = voices.find(({ id }) => id === voiceId)
  const model = asked.model ?? modelFor(voice)
  const spoken: SpokenOrder = {
    ...order,
    asked: { ...asked, voice_id: voiceId, ...(model === undefined ? {} : { model }) },
    format: routed(order, { model, voice })
  }
  return spoken
})

type Listed = Effect.Success<ReturnType<typeof voicesOf>>

/** Models' voices come first: they are the most intelligible. The fleet's own list has another order. */
const defaultVoice = (voices: Listed, language: string | undefined) => {
  const shared = voices.filter(({ type, real_time: isRealTime = true }) => type === "shared" && isRealTime)
  const listed = new Set(shared.map(({ id }) => id))
  const neural = shared.filter(({ tags = [] }) => tags.includes("neural"))
  return defaultVoiceId(language, [...neural, ...sharedVoices.filter(({ id }) => listed.has(id))])
}

/** The model that a voice needs if it is not one of the default model's; otherwise undefined. */
export const modelFor = (voice: Pick<Listed[number], "models"> | undefined): string | undefined => {
  const names = (voice?.models ?? []).map(({ name }) => name)
  return names.some((name) => findModel(name)?.isDefault === true) ? undefined : names[0]
}

interface Speaker {
  readonly model: string | undefined
  readonly voice: Pick<Listed[number], "real_time"> | undefined
}

/** A voice that is slow, or a model without marks on a stream, answers at once, if a text of that length is allowed. */
export const routed = (
  { text, format }: Pick<SayOrder, "text" | "format">,
  { model = "", voice }: Speaker
): SayOrder["format"] => {
  const isWhole = voice?.real_time === false || findModel(model)?.hasMarks === false
  const isAllowed = text.length <= speechInputMax.answer && format.wavRateHz === undefined
  return isWhole && isAllowed ? { ...format, route: "answer" } : format
}

const printVoices = Effect.fnUntraced(function* (fleet: SpeechFleet) {
  const voices = yield* voicesOf(fleet)
  const idWidth = Math.max(0, ...voices.map(({ id }) => id.length))
  const byLocale = voices.toSorted((left, right) => left.locale.localeCompare(right.locale) || byQuality(left, right))
  yield* Effect.forEach(
    byLocale,
    ({ id, gender, locale, quality = "", real_time: isRealTime = true, tags = [] }) => {
      const shown = [...tags, ...(isRealTime ? [] : ["whole answers only"])].join(", ")
      return print(`${id.padEnd(idWidth)}  ${locale}  ${gender.padEnd(6)}  ${quality.padEnd(7)}  ${shown}`.trimEnd())
    },
    { discard: true }
  )
})

interface Taker {
  readonly audio: SaySink["write"]
  readonly marks: (marks: ReadonlyArray<WordMark>) => Effect.Effect<unknown>
}

/** Returns the length of the speech in milliseconds, once all of it is written or heard. */
export const speak = Effect.fnUntraced(function* (
  fleet: SpeechFleet,
  order: SpokenOrder,
  sink: SaySink,
  words: WordsShown
) {
  const waiting = yield* Queue.unbounded<WordMark | "end">()
  const showing = yield* Effect.forkScoped(showAll(waiting, sink, words))
  const taker: Taker = { audio: sink.write, marks: (marks) => Queue.offerAll(waiting, marks) }
  const body = { ...order.asked, input: order.text, output_format: order.format.outputFormat }
  const speaking = order.format.route === "answer" ? whole(fleet, body, taker) : streamed(fleet, body, taker)
  const durationMs = yield* speaking
  yield* Queue.offer(waiting, "end")
  yield* Effect.all([Fiber.join(showing), sink.finish], { concurrency: 2, discard: true })
  return durationMs
}, Effect.scoped)

const showAll = Effect.fnUntraced(
  function* (waiting: Queue.Queue<WordMark | "end">, sink: SaySink, words: WordsShown) {
    for (;;) {
      const next = yield* Queue.take(waiting)
      if (next === "end") return words.end(true)
      yield* sink.played(next.start_time)
      words.show(next)
    }
  },
  (showing, _waiting, _sink, words) => Effect.onInterrupt(showing, () => Effect.sync(() => words.end(false)))
)

const whole = Effect.fnUntraced(function* ({ api, call }: SpeechFleet, payload: SpeechRequest, taker: Taker) {
  const spoken = yield* call(api.createSpeech({ payload }))
  yield* taker.audio(Buffer.from(spoken.audio_data, "base64"))
  yield* taker.marks(spoken.speech_marks.chunks.flatMap(({ chunks }) => chunks))
  return spoken.audio_duration_ms
})

const streamed = Effect.fnUntraced(function* (fleet: SpeechFleet, body: StreamRequest, taker: Taker) {
  const read = eventReader()
  let durationMs: number | undefined
  const take = (event: SpeechEvent) => {
    switch (event.type) {
      case "chunk":
        return Effect.andThen(
          event.audio.length === 0 ? Effect.void : taker.audio(event.audio),
          taker.marks(event.marks)
        )
      case "done":
        durationMs = event.durationMs
        return Effect.void
      case "failed":
        return Effect.fail(new CommandRefused({ reason: event.reason }))
    }
  }
  const bytes = fleet.stream("/v1/audio/stream/with-timestamps", body)
  yield* Stream.runForEach(bytes, (part) => Effect.forEach(read(part), take, { discard: true }))
  return durationMs ?? (yield* new CommandRefused({ reason: "the speech broke off before its end" }))
})

export type SpeechEvent =
  | { readonly type: "chunk"; readonly audio: Uint8Array; readonly marks: ReadonlyArray<WordMark> }
  | { readonly type: "done"; readonly durationMs: number }
  | { readonly type: "failed"; readonly reason: string }

const Wire = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({
      type: Schema.Literal("speech.chunk"),
      audio: Schema.optionalKey(Schema.String),
      speech_marks: Schema.optionalKey(Schema.Array(WordMark))
    }),
    Schema.Struct({ type: Schema.Literal("speech.done"), audio_duration_ms: Schema.Finite }),
    Schema.Struct({
      type: Schema.Literal("speech.error"),
      error: Schema.Struct({ code: Schema.String, message: Schema.String }),
      request_id: Schema.optionalKey(Schema.String)
    })
  ])
)

const decode = Schema.decodeResult(Wire)
const known = new Set(["speech.chunk", "speech.done", "speech.error"])

/** Reads the events of the timestamps stream from bytes in chunks of any size; unknown events are skipped. Pure. */
export const eventReader = () => {
  const utf8 = new TextDecoder()
  let rest = ""
  return (bytes: Uint8Array): ReadonlyArray<SpeechEvent> => {
    const blocks = (rest + utf8.decode(bytes, { stream: true })).split("\n\n")
    rest = blocks.pop() ?? ""
    return blocks.flatMap(eventsOf)
  }
}

const eventsOf = (block: string): ReadonlyArray<SpeechEvent> => {
  const lines = block.split("\n")
  const name = lines.find((line) => line.startsWith("event: "))?.slice("event: ".length)
  const data = lines.find((line) => line.startsWith("data: "))?.slice("data: ".length)
  if (name === undefined || data === undefined || !known.has(name)) return []
  const read = decode(data)
  if (Result.isFailure(read)) return [{ type: "failed", reason: `an event cannot be read: ${read.failure.message}` }]
  return [eventOf(read.success)]
}

const eventOf = (wire: typeof Wire.Type): SpeechEvent => {
  switch (wire.type) {
    case "speech.chunk":
      return { type: "chunk", audio: Buffer.from(wire.audio ?? "", "base64"), marks: wire.speech_marks ?? [] }
    case "speech.done":
      return { type: "done", durationMs: wire.audio_duration_ms }
    case "speech.error": {
      const request = wire.request_id === undefined ? "" : `, ${wire.request_id}`
      return { type: "failed", reason: `${wire.error.message} (${wire.error.code}${request})` }
    }
  }
}

interface WordsOptions {
  readonly text: string
  readonly marks: MarksShown | undefined
  readonly hasProgress: boolean
  readonly out: (text: string) => void
  readonly progress: (text: string) => void
}

interface WordsShown {
  readonly show: (mark: WordMark) => void
  /** `isWhole`: the text after the last word belongs to it. */
  readonly end: (isComplete: boolean) => void
}

// A shorter text is over before its progress could be read.
const longCharacters = 400
const clearLine = "\r\u001b[K"

export const showWords = ({ text, marks, hasProgress, out, progress }: WordsOptions): WordsShown => {
  const plain = isSsml(text) ? withoutTags : (part: string) => part
  const showsProgress = hasProgress && text.length >= longCharacters
  let at = 0
  let percentShown = -1

  const reportProgress = ({ end, end_time: endMs }: WordMark) => {
    const percent = Math.floor((end / text.length) * 100)
    if (percent === percentShown) return
    percentShown = percent
    progress(`${clearLine}${end} of ${text.length} characters, ${clockOf(endMs)}`)
  }

  return {
    show: (mark) => {
      if (marks === "json") out(`${JSON.stringify(mark)}\n`)
      if (marks === "words") {
        const before = plain(text.slice(at, mark.start))
        out(at === 0 ? `${before.trimStart()}${mark.value}` : `${before}${mark.value}`)
      }
      at = mark.end
      if (showsProgress) reportProgress(mark)
    },
    end: (isComplete) => {
      if (percentShown >= 0) progress(clearLine)
      if (marks === "words" && at > 0) out(isComplete ? `${plain(text.slice(at)).trimEnd()}\n` : "\n")
    }
  }
}

const withoutTags = (part: string) => part.replaceAll(/<[^<>]*>/gu, " ").replaceAll(/\s+/gu, " ")

const clockOf = (ms: number) => {
  const seconds = Math.floor(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}
