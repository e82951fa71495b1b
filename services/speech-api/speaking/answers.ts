/**
 * The bodies of the speech routes: one JSON body with its marks nested, or the events of the timestamps stream. Pure.
 */
import { Effect, Stream } from "effect"
import type { AudioError, AudioFormat } from "#speech/audio"
import type { OtherMark, SentenceMark, SpeechMarks, WordMark } from "#speech/contract"
import { jsonEvent, type ServerSentEvent } from "#http"
import type { Spoken } from "./Speech.ts"
import type { InputRefused, SpeechFailed } from "../refusals.ts"

interface SentenceSpan {
  readonly turn: number
  readonly start: number
  readonly end: number
}

/** Words in their sentences, sentences in one node. Values are slices of their turn's input. */
export const nestMarks = (
  inputs: ReadonlyArray<string>,
  sentences: ReadonlyArray<SentenceSpan>,
  words: ReadonlyArray<WordMark>
): SpeechMarks => {
  const isDialogue = inputs.length > 1
  let at = 0
  const nodes: Array<SentenceMark> = []
  for (const sentence of sentences) {
    const own: Array<WordMark> = []
    for (let word = words[at]; word !== undefined && isWithin(word, sentence); word = words[++at]) own.push(word)
    const [first, last] = [own[0], own.at(-1)]
    if (first === undefined || last === undefined) continue
    nodes.push({
      type: "sentence",
      start: sentence.start,
      end: sentence.end,
      start_time: first.start_time,
      end_time: last.end_time,
      value: inputs[sentence.turn]?.slice(sentence.start, sentence.end) ?? "",
      ...(isDialogue ? { turn: sentence.turn } : {}),
      chunks: own
    })
  }
  const input = inputs.join("\n")
  return {
    type: "paragraph",
    start: 0,
    end: input.length,
    start_time: nodes[0]?.start_time ?? 0,
    end_time: nodes.at(-1)?.end_time ?? 0,
    value: input,
    chunks: nodes
  }
}

const isWithin = (word: WordMark, sentence: SentenceSpan) =>
  (word.turn ?? 0) < sentence.turn || ((word.turn ?? 0) === sentence.turn && word.start < sentence.end)

interface FinishedSpeech {
  readonly audio: Uint8Array
  readonly format: AudioFormat
  /** The format is named only to callers that named it. */
  readonly isFormatNamed: boolean
  readonly billableCharacters: number
  readonly durationMs: number
  readonly marks: SpeechMarks
  /** Absent if words alone were asked for. */
  readonly others?: ReadonlyArray<OtherMark> | undefined
}

export const speechBody = ({
  audio,
  format,
  isFormatNamed,
  billableCharacters,
  durationMs,
  marks,
  others
}: FinishedSpeech) => ({
  audio_data: Buffer.from(audio.buffer, audio.byteOffset, audio.length).toString("base64"),
  audio_format: format.audioFormat,
  ...(isFormatNamed ? { output_format: format.deliveredName } : {}),
  billable_characters_count: billableCharacters,
  audio_duration_ms: durationMs,
  speech_marks: marks,
  ...(others === undefined ? {} : { marks: others })
})

// A line of an event stream stays below 64 KiB, the longest that common clients read. 40 kB are 54 kB in base64, which
// leaves room for the marks of half a minute.
const audioBytesMax = 40_000
const marksBytesMax = 8_000
const noAudio = new Uint8Array(0)

type Failure = InputRefused | SpeechFailed | AudioError

/** Pieces of audio with the marks that became final beside them, then one event with the amount spoken. */
export const speechEvents = (spoken: Spoken): Stream.Stream<ServerSentEvent, Failure> =>
  spoken.bytes.pipe(
    Stream.flatMap((bytes) => Stream.fromIterable(chunkEvents(bytes, marksOf(spoken)))),
    Stream.concat(
      Stream.unwrap(
        Effect.sync(() => {
          const done = {
            type: "speech.done",
            billable_characters_count: spoken.billableCharacters(),
            audio_duration_ms: spoken.durationMs()
          }
          const rest = marksOf(spoken)
          const last = rest.length === 0 ? [] : chunkEvents(noAudio, rest)
          return Stream.fromIterable([...last, jsonEvent(done, done.type)])
        })
      )
    )
  )

/** The last event in place of `speech.done`, if the speech breaks off. */
export const errorEvent = (code: string, message: string, requestId: string): ServerSentEvent =>
  jsonEvent({ type: "speech.error", error: { code, message }, request_id: requestId }, "speech.error")

type Marks = ReadonlyArray<WordMark | OtherMark>

const marksOf = (spoken: Spoken): Marks => [...spoken.takeMarks(), ...spoken.takeOthers()]
const isWord = (mark: Marks[number]) => mark.type === "word"

const chunkEvents = (bytes: Uint8Array, marks: Marks): ReadonlyArray<ServerSentEvent> => {
  const batches = batchesOf(marks)
  const count = Math.max(Math.ceil(bytes.length / audioBytesMax), batches.length)
  return Array.from({ length: count }, (_, index) => {
    const audio = bytes.subarray(index * audioBytesMax, (index + 1) * audioBytesMax)
    const own = batches[index] ?? []
    const isSplit = audio.length > 0 && lengthOf(own) > marksBytesMax
    return isSplit ? [chunkEvent(audio, []), chunkEvent(noAudio, own)] : [chunkEvent(audio, own)]
  }).flat()
}

/** Each batch fits beside audio, except for a single word that is longer. */
const batchesOf = (marks: Marks): ReadonlyArray<Marks> => {
  const batches: Array<Marks> = []
  let size = marksBytesMax
  for (const mark of marks) {
    size += lengthOf(mark)
    const last = size <= marksBytesMax ? batches.pop() : undefined
    if (last === undefined) size = lengthOf(mark)
    batches.push([...(last ?? []), mark])
  }
  return batches
}

const lengthOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1

const chunkEvent = (audio: Uint8Array, all: Marks) => {
  const marks = all.filter(isWord)
  const others = all.filter((mark) => !isWord(mark))
  const chunk = {
    type: "speech.chunk",
    ...(audio.length === 0 ? {} : { audio: Buffer.from(audio).toString("base64") }),
    ...(marks.length === 0 ? {} : { speech_marks: marks }),
    ...(others.length === 0 ? {} : { marks: others })
  }
  return jsonEvent(chunk, chunk.type)
}
