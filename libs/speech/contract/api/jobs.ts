/**
 * Jobs, as callers start and follow them: a book is spoken in the background, a file for each chapter with its marks
 * and captions. Field names are those of the wire.
 */
import { Schema, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded, NullIsAbsent } from "#base/http"
import { Count, describe, Timestamp } from "#base"
import { MarkTime, WordMark } from "../marks.ts"
import { jobAudioFormats, jobStates } from "../jobs.ts"
import { speechEndpoints } from "./error-codes.ts"
import { Language, Name, Speed, VoiceId } from "./fields.ts"
import { LexiconNames } from "./lexicons.ts"
import { ModelOfText, SpeechOptions } from "./speech.ts"

/** A book of a thousand pages has about a million characters. */
export const jobLimits = { charactersMax: 1_000_000, chaptersMax: 500, speakersMax: 64, titleMax: 200 } as const

const Title = Schema.String.check(Schema.isBetweenLength(1, jobLimits.titleMax))

const Speaker = Schema.String.check(Schema.isBetweenLength(1, 64))

export const JobRequest = Schema.Struct({
  input: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1))).pipe(
    describe("The whole book; its headings begin chapters.")
  ),
  chapters: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ title: Schema.optionalKey(Title), input: Schema.String.check(Schema.isMinLength(1)) }).annotate({
        identifier: "JobChapterInput"
      })
    ).check(Schema.isBetweenLength(1, jobLimits.chaptersMax))
  ).pipe(describe("In place of `input`: a document for each chapter, as an EPUB has them.")),
  format: Schema.optionalKey(Schema.Literals(["text", "markdown", "html"])).pipe(
    describe("How the input is written; `html` is also XHTML. `text` without it.")
  ),
  title: Schema.optionalKey(Title).pipe(describe("Of the book, for players.")),
  author: Schema.optionalKey(Title).pipe(describe("For players.")),
  voice_id: VoiceId,
  speakers: Schema.optionalKey(
    Schema.Record(Speaker, VoiceId).check(Schema.isMaxProperties(jobLimits.speakersMax))
  ).pipe(
    describe(
      "Voices by the names that stand before a colon at the beginning of a paragraph, as `Alice: Good morning.`: that " +
        "paragraph is spoken by that voice, without the name."
    )
  ),
  language: Schema.optionalKey(Language).pipe(
    describe("What is spoken, as `de-DE`; a bare language is any region of it. Each voice's own locale without it.")
  ),
  model: Schema.optionalKey(ModelOfText).pipe(describe("The id of a model; the default model without it.")),
  options: Schema.optionalKey(SpeechOptions.mapFields(Struct.omit(["marks"])).annotate({ identifier: "JobOptions" })),
  lexicons: LexiconNames,
  speed: Speed,
  audio_format: Schema.optionalKey(Schema.Literals(jobAudioFormats)).pipe(
    describe("`m4b` is AAC in MPEG-4, as players of audio books take it; `m4b` without it. Both have chapter marks.")
  )
}).annotate({ identifier: "JobRequest" })
export interface JobRequest extends Schema.Schema.Type<typeof JobRequest> {}

const JobChapter = Schema.Struct({
  chapter: Count.pipe(describe("Counts from 1, also in the paths of its files.")),
  title: Schema.NullOr(Schema.String),
  document: Count.pipe(
    describe("The index in `chapters` of the request, of which those with nothing to say are left out; 0 of `input`.")
  ),
  characters: Count,
  characters_done: Count,
  audio_duration_ms: MarkTime.pipe(describe("Of what is spoken so far.")),
  audio_bytes: Schema.NullOr(Count).pipe(describe("Null until its files are there.")),
  audio: Schema.NullOr(Schema.String).pipe(describe("Where they are, from the API's own address and with a token.")),
  captions: Schema.NullOr(Schema.String),
  marks: Schema.NullOr(Schema.String)
}).annotate({ identifier: "JobChapter" })

const progress = {
  id: Name,
  object: Schema.Literal("speech.job"),
  status: Schema.Literals(jobStates),
  title: Schema.NullOr(Schema.String),
  audio_format: Schema.Literals(jobAudioFormats),
  characters: Count.pipe(describe("Of what is read of the input: those that are billed.")),
  characters_done: Count,
  audio_duration_ms: MarkTime.pipe(describe("Of what is spoken so far.")),
  chapters_count: Count,
  chapters_done: Count,
  created_at: Timestamp,
  changed_at: Timestamp,
  expires_at: Timestamp.pipe(describe("When the job and its files are removed, unless it goes on.")),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
}

export const JobProgress = Schema.Struct(progress).annotate({ identifier: "JobProgress" })
export interface JobProgress extends Schema.Schema.Type<typeof JobProgress> {}

export const Job = Schema.Struct({ ...progress, chapters: Schema.Array(JobChapter) }).annotate({ identifier: "Job" })
export interface Job extends Schema.Schema.Type<typeof Job> {}

const JobList = Schema.Struct({
  jobs: Schema.Array(JobProgress).pipe(describe("The newest first.")),
  jobs_max: Count.pipe(describe("How many of the workspace may be unfinished at once."))
}).annotate({ identifier: "JobList" })

export const JobMarks = Schema.Struct({
  audio_duration_ms: MarkTime,
  speech_marks: Schema.Array(WordMark).pipe(
    describe("Each word; its place is that in the chapter's own document, the whole input where that is one.")
  )
}).annotate({ identifier: "JobMarks" })
export interface JobMarks extends Schema.Schema.Type<typeof JobMarks> {}

export const JobCaptionsQuery = Schema.Struct({
  format: Schema.optionalKey(Schema.Literals(["vtt", "srt"])).pipe(describe("WebVTT or SubRip; vtt without it."))
})

const path = "/v1/audio/jobs/:job_id"
const chapterPath = `${path}/chapters/:chapter` as const

const { read, act, remove } = speechEndpoints("job_not_found", "not_found")
const scope = ["audio:speech"] as const

export const JobsGroup = guarded(
  "jobs",
  act("createJob", "/v1/audio/jobs", {
    payload: JobRequest,
    success: Job.pipe(HttpApiSchema.status(202)),
    refused: ["forbidden", "voice_not_found", "idempotency_conflict", "too_many_jobs"],
    scope: "audio:speech",
    summary: "Speak a book",
    description:
      "Reads the input into chapters, answers with them, and speaks them in the background while live answers leave " +
      "time for it. See [Audiobooks](#audiobooks).",
    example: { input: "# One\n\nIt was a bright day.\n", format: "markdown", voice_id: "selma", title: "A short book" }
  }),
  read("listJobs", "/v1/audio/jobs", {
    success: JobList,
    scope,
    summary: "List the jobs",
    description: "Those of the workspace, all in one answer, without their chapters."
  }),
  read("getJob", path, {
    success: Job,
    scope,
    summary: "Fetch a job",
    description: "How far it is, and where the files of the chapters are that are finished."
  }),
  read("followJob", `${path}/events`, {
    success: HttpApiSchema.StreamUint8Array({ contentType: ["text/event-stream"] }),
    refused: ["concurrency_limit_reached"],
    scope,
    summary: "Follow a job",
    description:
      "Server-sent events: `job.progress` at once and after each change, then `job.completed` or `job.failed` as the " +
      "last one; the events of a removed job just end. Each holds the job without its chapters. Who connects again misses " +
      "nothing that still counts."
  }),
  read("getJobAudio", `${chapterPath}/audio`, {
    success: HttpApiSchema.StreamUint8Array({ contentType: ["audio/mp4", "audio/mpeg"] }),
    refused: ["chapter_not_spoken"],
    scope,
    summary: "Download a chapter",
    description: "The file of one chapter, with the titles of book and chapter and a mark for each of its headings."
  }),
  read("getJobCaptions", `${chapterPath}/captions`, {
    query: JobCaptionsQuery.fields,
    success: HttpApiSchema.StreamUint8Array({ contentType: ["text/vtt", "application/x-subrip"] }),
    refused: ["chapter_not_spoken"],
    scope,
    summary: "Download the captions of a chapter",
    description: "As on `/v1/audio/captions`."
  }),
  read("getJobMarks", `${chapterPath}/marks`, {
    success: JobMarks,
    refused: ["chapter_not_spoken"],
    scope,
    summary: "Fetch the marks of a chapter",
    description: "When each word of the chapter is heard."
  }),
  remove("deleteJob", path, {
    scope: "audio:speech",
    summary: "Remove a job",
    description: "Ends it if it goes on, and removes its text and its files. What was spoken stays billed."
  })
).annotateEndpoints(NullIsAbsent, true)
