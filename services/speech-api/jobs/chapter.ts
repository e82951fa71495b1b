/**
 * The files of a chapter, from its passages: the sound of all on one timeline, the marks of its words by their places
 * in the caller's document, and captions. They can be written again, and are then the same.
 */
import { createReadStream } from "node:fs"
import { Effect, Stream } from "effect"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { type ChapterTags, makeLoudnessLeveller, pcmFromBytes, writeChapterFile } from "#speech/audio"
import { speechSampleRateHz, type WordMark } from "#speech/contract"
import { Configuration } from "#configuration"
import type { JobMarks } from "#speech/api"
import { FormFiles } from "#http"
import { captionFiles } from "#speech"
import { sourceSpan } from "#speech/book"
import { JobFiles } from "./JobFiles.ts"
import type { JobAddress, JobPlan, JobRecord, PlannedChapter, SpokenPassage } from "./record.ts"

const msOf = (samples: number) => (samples * 1_000) / speechSampleRateHz

/** A chapter as it was spoken: the turns of its passages, one after the other. */
interface SpokenChapter {
  readonly turns: PlannedChapter["passages"][number]["turns"]
  readonly sentences: SpokenPassage["sentences"]
  readonly words: ReadonlyArray<WordMark & { readonly turn: number }>
  readonly durationMs: number
  /** When each passage begins, and the number of its first turn. */
  readonly starts: ReadonlyArray<{ readonly ms: number; readonly turn: number }>
}

/** Puts the passages on one timeline. Pure. */
export const joinedPassages = (chapter: PlannedChapter, spoken: ReadonlyArray<SpokenPassage>): SpokenChapter => {
  const starts: Array<{ ms: number; turn: number }> = []
  let [samples, turn] = [0, 0]
  const parts = spoken.map((passage, at) => {
    const start = { ms: msOf(samples), turn }
    starts.push(start)
    samples += passage.samples
    turn += chapter.passages[at]?.turns.length ?? 0
    return { passage, start }
  })
  return {
    turns: chapter.passages.flatMap(({ turns }) => turns),
    sentences: parts.flatMap(({ passage, start }) =>
      passage.sentences.map((sentence) => ({ ...sentence, turn: sentence.turn + start.turn }))
    ),
    words: parts.flatMap(({ passage, start }) =>
      passage.words.map((word) => ({
        ...word,
        turn: (word.turn ?? 0) + start.turn,
        start_time: tenths(word.start_time + start.ms),
        end_time: tenths(word.end_time + start.ms)
      }))
    ),
    durationMs: msOf(samples),
    starts
  }
}

const tenths = (ms: number) => Math.round(ms * 10) / 10

/** The marks by their places in the document; a word that the document writes with markup has it in its value. Pure. */
export const marksOf = ({ durationMs, turns, words }: SpokenChapter, document: string): JobMarks => ({
  audio_duration_ms: durationMs,
  speech_marks: words.map(({ turn, ...word }) => {
    const [start, end] = sourceSpan(turns[turn] ?? { source: [] }, word.start, word.end)
    return { ...word, start, end, value: document.slice(start, end) }
  })
})

/** Where the headings within a chapter are heard. Pure. */
export const sectionsOf = (chapter: PlannedChapter, { starts, words }: SpokenChapter): ChapterTags["sections"] =>
  chapter.sections.flatMap(({ passage, title, turn }) => {
    const number = (starts[passage]?.turn ?? 0) + turn
    const first = words.find((word) => word.turn >= number)
    return first === undefined ? [] : [{ title, startMs: first.start_time }]
  })

interface ChapterWork {
  readonly address: JobAddress
  readonly job: JobRecord
  readonly plan: JobPlan
  readonly chapter: number
}

/** Stores the files; returns how long the audio file is. */
export const writeChapter = Effect.fn("writeChapter")(function* ({ address, chapter, job, plan }: ChapterWork) {
  const files = yield* JobFiles
  const planned = plan.chapters[chapter]
  if (planned === undefined) return yield* Effect.die(`the plan has no chapter ${chapter}`)
  const passages = planned.passages.map((_, passage) => ({ chapter, passage }))
  const joined = joinedPassages(planned, yield* Effect.forEach(passages, (place) => files.passage(address, place)))
  const { request, speakers } = plan
  const inputs = joined.turns.map(({ text }) => text)
  const names =
    request.speakers === undefined ? undefined : joined.turns.map(({ speaker }) => speakers[speaker ?? -1] ?? narrator)
  const keep = (part: "marks" | "vtt" | "srt", text: string) =>
    files.keep(address, chapter, part, Stream.make(new TextEncoder().encode(text)))
  yield* keep("marks", JSON.stringify(marksOf(joined, plan.documents[planned.document] ?? "")))
  for (const format of ["vtt", "srt"] as const) {
    yield* keep(format, captionFiles[format].write({ ...joined, inputs }, names))
  }
  const title = planned.title ?? `${chapter + 1}`
  const tags: ChapterTags = {
    title,
    album: request.title,
    artist: request.author,
    track: [chapter + 1, plan.chapters.length],
    durationMs: joined.durationMs,
    sections: sectionsOf(planned, joined)
  }
  const leveller = request.options?.loudness_normalization === true ? makeLoudnessLeveller() : undefined
  const sound = Stream.flatMap(Stream.fromIterable(passages), (place) => files.sound(address, place)).pipe(
    Stream.map((bytes) => pcmFromBytes(bytes)),
    Stream.map((pcm) => leveller?.push(pcm) ?? pcm)
  )
  const folder = yield* (yield* FormFiles).callFolder
  const ffmpegPath = (yield* Configuration).Audio.FfmpegPath
  const path = yield* writeChapterFile({ format: job.audioFormat, tags, folder }, sound, { ffmpegPath })
  const file = NodeStream.fromReadable({ evaluate: () => createReadStream(path), onError: String })
  return yield* files.keep(address, chapter, "audio", file)
}, Effect.scoped)

/** As captions name who speaks where no speaker is named. */
const narrator = "Narrator"
