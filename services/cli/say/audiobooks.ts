/**
 * `audiobooks`: the running fleet speaks a whole book in the background, and its chapters are fetched as they are finished.
 * Ctrl-C leaves the job alone; it is fetched again by its id, and a file that is there already is not fetched twice.
 */
import { createWriteStream } from "node:fs"
import { mkdir, rename, stat } from "node:fs/promises"
import { basename, extname, join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { Effect, Stream } from "effect"
import { type Job, jobLimits, type JobRequest } from "#speech/api"
import { type Page, printPage } from "../answers.ts"
import { CommandRefused, faultOfFile, fileOf, misused, note, textWithin } from "../console.ts"
import { findFleet, type SpeechFleet } from "./client.ts"

interface SpeakGiven {
  readonly file: string
  readonly out: string
  readonly voice: string
  readonly speaker: ReadonlyArray<string>
  readonly format: "m4b" | "mp3" | undefined
  readonly title: string | undefined
  readonly author: string | undefined
  readonly language: string | undefined
  readonly speed: number | undefined
}

// A UTF-16 unit is three bytes of UTF-8 at most.
const bytesMax = jobLimits.charactersMax * 3

const formats: Readonly<Record<string, NonNullable<JobRequest["format"]>>> = {
  ".md": "markdown",
  ".markdown": "markdown",
  ".html": "html",
  ".htm": "html",
  ".xhtml": "html"
}

export const speakBook = Effect.fnUntraced(function* (given: SpeakGiven) {
  const input = yield* textWithin({ file: given.file, bytesMax, tooLong: "is longer than a book may be" })
  const speakers = yield* speakersOf(given.speaker)
  const { author, format, language, speed } = given
  const title = given.title ?? basename(given.file, extname(given.file))
  const order: JobRequest = {
    input,
    format: formats[extname(given.file).toLowerCase()] ?? "text",
    voice_id: given.voice,
    ...(given.file === "-" && given.title === undefined ? {} : { title }),
    ...(author === undefined ? {} : { author }),
    ...(speakers === undefined ? {} : { speakers }),
    ...(language === undefined ? {} : { language }),
    ...(speed === undefined ? {} : { speed }),
    ...(format === undefined ? {} : { audio_format: format })
  }
  const fleet = yield* findFleet
  yield* folderAt(given.out)
  const job = yield* fleet.call(fleet.api.createJob({ payload: order }))
  yield* note(`${job.id}: ${job.chapters_count} chapters, ${job.characters} characters`)
  yield* fetched(fleet, job.id, given.out)
})

const speakersOf = (given: ReadonlyArray<string>) => {
  const pairs = given.map((pair) => /^(.+)=([^=]+)$/u.exec(pair))
  if (pairs.includes(null)) return Effect.fail(misused("--speaker is NAME=VOICE, as Alice=selma"))
  return Effect.succeed(
    pairs.length === 0 ? undefined : Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]))
  )
}

export const fetchBook = Effect.fnUntraced(function* ({ id, out }: { readonly id: string; readonly out: string }) {
  yield* fetched(yield* findFleet, id, out)
})

export const listBooks = Effect.fnUntraced(function* (page: Page) {
  const { api, call } = yield* findFleet
  const { jobs } = yield* call(api.listJobs())
  yield* printPage(jobs, page, {
    keyOf: ({ id }) => id,
    forPrograms: (one) => ({ ...one }),
    forPeople: ({ chapters_count, chapters_done, title, ...one }) => ({
      ...one,
      title: title ?? "",
      chapters: `${chapters_done} of ${chapters_count}`
    }),
    columns: { id: "id", title: "title", status: "status", chapters: "chapters", expires: "expires_at" }
  })
})

export const removeBook = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
  const { api, call } = yield* findFleet
  yield* call(api.deleteJob({ params: { job_id: id } }))
  yield* note(`removed ${id}`)
})

/** Made before anything is begun. */
const folderAt = Effect.fnUntraced(function* (out: string) {
  const folder = yield* fileOf(out)
  yield* Effect.tryPromise({
    try: () => mkdir(folder, { recursive: true }),
    catch: (cause) => misused(`${out} cannot be made a folder: ${faultOfFile(cause)}`)
  })
  return folder
})

const lookEvery = "1 second"

/** Fetches each chapter once it is finished, until all are. */
const fetched = Effect.fnUntraced(function* (fleet: SpeechFleet, id: string, out: string) {
  const folder = yield* folderAt(out)
  const done = new Set<number>()
  for (;;) {
    const job = yield* fleet.call(fleet.api.getJob({ params: { job_id: id } }))
    for (const chapter of job.chapters) {
      if (chapter.audio === null || done.has(chapter.chapter)) continue
      yield* fetchChapter(fleet, { job, chapter, folder })
      done.add(chapter.chapter)
    }
    if (job.status === "completed") return
    if (job.error !== null) return yield* new CommandRefused({ reason: `${job.error.message} (${job.error.code})` })
    yield* Effect.sleep(lookEvery)
  }
})

interface FetchedChapter {
  readonly job: Job
  readonly chapter: Job["chapters"][number]
  readonly folder: string
}

const fetchChapter = Effect.fnUntraced(function* (
  { api, call }: SpeechFleet,
  { chapter, folder, job }: FetchedChapter
) {
  const params = { job_id: job.id, chapter: String(chapter.chapter) }
  const digits = String(job.chapters_count).length
  const name = `${params.chapter.padStart(digits, "0")} ${fileNameOf(chapter.title ?? job.title ?? "chapter")}`
  const path = join(folder, `${name}.${job.audio_format}`)
  if ((yield* sizeOf(path)) === chapter.audio_bytes) return
  yield* save(join(folder, `${name}.vtt`), yield* call(api.getJobCaptions({ params, query: {} })))
  yield* save(path, yield* call(api.getJobAudio({ params })))
  yield* note(`${path}: ${(chapter.audio_duration_ms / 1_000).toFixed(1)} s`)
})

/** What every file system takes. */
const fileNameOf = (title: string) =>
  title
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f/\\:*?"<>|]+/gu, " ")
    .trim()
    .slice(0, 80)

/** The file is whole once it has its name. */
const save = Effect.fnUntraced(function* <E>(path: string, bytes: Stream.Stream<Uint8Array, E>) {
  const readable = Readable.fromWeb(Stream.toReadableStream(bytes) as never)
  yield* onDisk(() => pipeline(readable, createWriteStream(`${path}.part`)))
  yield* onDisk(() => rename(`${path}.part`, path))
})

const sizeOf = (path: string) =>
  Effect.orElseSucceed(
    Effect.tryPromise(async () => (await stat(path)).size),
    () => undefined
  )

const onDisk = <A>(act: () => Promise<A>) =>
  Effect.tryPromise({ try: act, catch: (cause) => new CommandRefused({ reason: faultOfFile(cause) }) })
