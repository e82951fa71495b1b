/**
 * The events of the timestamps stream: pieces of audio with the marks that became final beside them, then
 * one that says how much was spoken. A line stays below 64 KiB, the longest that common clients read.
 */
import { Effect, Stream } from "effect"
import type { AudioError } from "#audio"
import { jsonEvent, type ServerSentEvent } from "#http"
import type { SpeechFailed } from "./errors.ts"
import type { Spoken } from "./Speech.ts"

// 40 kB are 54 kB in base64, which leaves room for the marks of half a minute.
const audioBytesMax = 40_000
const marksBytesMax = 8_000
const noAudio = new Uint8Array(0)

type Failure = SpeechFailed | AudioError

export const speechEvents = (spoken: Spoken, billableCharacters: number): Stream.Stream<ServerSentEvent, Failure> =>
  spoken.bytes.pipe(
    Stream.flatMap((bytes) => Stream.fromIterable(chunkEvents(bytes, spoken.takeMarks()))),
    Stream.concat(
      Stream.unwrap(
        Effect.sync(() => {
          const done = {
            type: "speech.done",
            billable_characters_count: billableCharacters,
            audio_duration_ms: spoken.durationMs()
          }
          const rest = spoken.takeMarks()
          const last = rest.length === 0 ? [] : chunkEvents(noAudio, rest)
          return Stream.fromIterable([...last, jsonEvent(done, done.type)])
        })
      )
    )
  )

/** Told instead of `speech.done` when the speech breaks off. */
export const errorEvent = (code: string, message: string, requestId: string): ServerSentEvent =>
  jsonEvent({ type: "speech.error", error: { code, message }, request_id: requestId }, "speech.error")

type Marks = ReturnType<Spoken["takeMarks"]>

const chunkEvents = (bytes: Uint8Array, marks: Marks): ReadonlyArray<ServerSentEvent> => {
  const batches = batchesOf(marks)
  const count = Math.max(Math.ceil(bytes.length / audioBytesMax), batches.length)
  return Array.from({ length: count }, (_, index) => {
    const audio = bytes.subarray(index * audioBytesMax, (index + 1) * audioBytesMax)
    const own = batches[index] ?? []
    const isApart = audio.length > 0 && lengthOf(own) > marksBytesMax
    return isApart ? [chunkEvent(audio, []), chunkEvent(noAudio, own)] : [chunkEvent(audio, own)]
  }).flat()
}

/** No more in one than fits beside audio, except for a word that is longer by itself. */
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

const chunkEvent = (audio: Uint8Array, marks: Marks) => {
  const chunk = {
    type: "speech.chunk",
    ...(audio.length === 0 ? {} : { audio: Buffer.from(audio).toString("base64") }),
    ...(marks.length === 0 ? {} : { speech_marks: marks })
  }
  return jsonEvent(chunk, chunk.type)
}
