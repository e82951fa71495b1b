/** The routes of jobs: a book is read and started, followed, fetched by chapters, and removed. */
import { randomUUID } from "node:crypto"
import { Clock, Effect, Option, Stream, Struct } from "effect"
import { type JobMarks, type JobRequest, JobsGroup, jobLimits } from "#speech/api"
import { jsonCodec, Publisher } from "#bus"
import { subjects } from "#base"
import { chapterMediaTypes } from "#speech/audio"
import { JobOrder } from "#speech/contract"
import {
  Admission,
  Caller,
  conflict,
  downloadAnswer,
  emptyAnswer,
  eventsAnswer,
  HttpCall,
  Idempotency,
  idempotencyKey,
  jsonAnswer,
  jsonFingerprint,
  notFound,
  routesOf,
  validationFailed,
  writtenJsonAnswer,
  WireError
} from "#http"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { captionFiles } from "#speech"
import { type BookOrder, readBookInSteps } from "#speech/book"
import { jobBody, jobEvent, jobProgress } from "../jobs/answer.ts"
import { JobEvents } from "../jobs/JobEvents.ts"
import { type ChapterPart, JobFiles } from "../jobs/JobFiles.ts"
import { JobStore } from "../jobs/JobStore.ts"
import { planPassage } from "../jobs/passage.ts"
import { isEnded, type JobPlan, type JobRecord } from "../jobs/record.ts"
import { jobsEnded } from "../metrics.ts"
import { refusalOfVoice } from "../refusals.ts"
import { callerVersion } from "./version.ts"

// A million characters, each escaped, and the other fields.
const options = { bodyBytesMax: Effect.succeed(8 * 1_024 * 1_024) }

const noJob = notFound("no such job", "job_not_found")
const orderCodec = jsonCodec(JobOrder)

/** The documents of a request, within its limit. */
const documentsOf = ({ chapters, input }: JobRequest) => {
  if ((input === undefined) === (chapters === undefined)) {
    return Effect.fail(validationFailed({ input: "either `input` or `chapters` is needed, and not both" }))
  }
  const documents = chapters ?? [{ input: input ?? "" }]
  const characters = documents.reduce((sum, document) => sum + document.input.length, 0)
  if (characters <= jobLimits.charactersMax) return Effect.succeed(documents)
  return Effect.fail(
    new WireError({
      status: 413,
      code: "payload_too_large",
      message: `the book has ${characters} characters, at most ${jobLimits.charactersMax} are taken`,
      details: { characters, characters_max: jobLimits.charactersMax }
    })
  )
}

/** Reads the book, and checks what can be known without speaking. */
const planOf = Effect.fnUntraced(function* (request: JobRequest) {
  const { workspace } = yield* Caller
  const documents = yield* documentsOf(request)
  const speakers = Object.keys(request.speakers ?? {})
  const areChapters = request.chapters !== undefined
  const order: BookOrder = { format: request.format ?? "text", documents, areChapters, speakers }
  const chapters = yield* readBookInSteps(order)
  if (chapters.length === 0) return yield* validationFailed({ input: "there is nothing to say" })
  if (chapters.length > jobLimits.chaptersMax) {
    return yield* validationFailed({ input: `it has ${chapters.length} chapters, ${jobLimits.chaptersMax} at most` })
  }
  const plan: JobPlan = {
    request: Struct.omit(request, ["chapters", "input"]),
    speakers,
    documents: documents.map(({ input }) => input),
    chapters
  }
  const voices = [undefined, ...speakers.keys()].map((speaker) => ({
    ...(speaker === undefined ? {} : { speaker }),
    text: "a",
    pauseAfterMs: 0,
    source: []
  }))
  yield* planPassage({ workspace }, plan, { turns: voices })
  return plan
})

const recordOf = (plan: JobPlan, { nowMs, workspace }: { readonly nowMs: number; readonly workspace: string }) => {
  const chapters = plan.chapters.map(({ document, passages, title = null }) => ({
    document,
    title: title?.slice(0, jobLimits.titleMax) ?? null,
    characters: passages.reduce((sum, { turns }) => sum + turns.reduce((all, { text }) => all + text.length, 0), 0),
    passages: passages.length,
    spoken: 0,
    charactersDone: 0,
    samples: 0,
    bytes: null
  }))
  const job: JobRecord = {
    id: `job_${randomUUID().replaceAll("-", "")}`,
    workspace,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
    status: "queued",
    title: plan.request.title ?? null,
    audioFormat: plan.request.audio_format ?? "m4b",
    chapters,
    fruitless: 0,
    error: null
  }
  return job
}

// Until then one of many jobs may have ended.
const retryAfterSeconds = 60

const opened = Effect.fnUntraced(function* (request: JobRequest) {
  const { workspace } = yield* Caller
  const { JobsPerWorkspace } = (yield* Configuration).SpeechApi
  const store = yield* JobStore
  const plan = yield* planOf(request)
  const unfinished = (yield* Effect.mapError(store.list(workspace), refusalOfVoice)).filter((job) => !isEnded(job))
  if (unfinished.length >= JobsPerWorkspace) {
    return yield* new WireError({
      status: 429,
      code: "too_many_jobs",
      message: `the workspace has ${JobsPerWorkspace} unfinished jobs, which is as many as it may have`,
      details: { jobs_max: JobsPerWorkspace },
      headers: { "retry-after": String(retryAfterSeconds) }
    })
  }
  const job = recordOf(plan, { nowMs: yield* Clock.currentTimeMillis, workspace })
  const publisher = yield* Publisher
  yield* store.open(job, plan).pipe(
    Effect.andThen(publisher.publish(subjects.speechJobs, orderCodec, { workspace, id: job.id })),
    Effect.tapError(() => Effect.ignore(store.remove(job))),
    Effect.mapError(refusalOfVoice)
  )
  return jsonAnswer(jobBody(job), { status: 202, headers: { location: `/v1/audio/jobs/${job.id}` } })
})

const found = Effect.gen(function* () {
  yield* callerVersion
  const { params } = yield* HttpCall
  const { workspace } = yield* Caller
  const store = yield* JobStore
  const job = yield* Effect.mapError(store.find({ workspace, id: params["job_id"] ?? "" }), refusalOfVoice)
  return Option.isSome(job) ? job.value : yield* noJob
})

const chapterFile = Effect.fnUntraced(function* (part: ChapterPart) {
  const job = yield* found
  const { params } = yield* HttpCall
  const number = Number(/^[1-9]\d{0,3}$/u.exec(params["chapter"] ?? "")?.[0] ?? 0)
  const chapter = job.chapters[number - 1]
  if (chapter === undefined) return yield* notFound(`the job has no chapter ${params["chapter"]}`)
  if (chapter.bytes === null) return yield* conflict("the chapter is not spoken yet", "chapter_not_spoken")
  const file = yield* Effect.mapError((yield* JobFiles).find(job, number - 1, part), refusalOfVoice)
  return { job, number, file: Option.isSome(file) ? file.value : yield* noJob }
})

const privately = { "cache-control": "private, no-store", "x-content-type-options": "nosniff" }

const downloaded = Effect.fnUntraced(function* (part: Exclude<ChapterPart, "marks">) {
  const { file, job, number } = yield* chapterFile(part)
  const extension = part === "audio" ? job.audioFormat : part
  const contentType = part === "audio" ? chapterMediaTypes[job.audioFormat] : captionFiles[part].mediaType
  const fileName = `${job.title ?? job.id} ${String(number).padStart(2, "0")}.${extension}`
  const content = Stream.mapError(file.content, (error) =>
    error._tag === "BusNotFound" ? noJob : refusalOfVoice(error)
  )
  return yield* downloadAnswer(content, { contentType, bytes: file.bytes, fileName, headers: privately })
})

export const jobRoutes = routesOf(
  JobsGroup,
  {
    createJob: ({ body }) =>
      Effect.gen(function* () {
        yield* callerVersion
        const { workspace } = yield* Caller
        const request = yield* body
        const key = yield* idempotencyKey(undefined)
        const fingerprint = jsonFingerprint(request)
        const once = { workspace, route: "POST /v1/audio/jobs", key, fingerprint, keepsRefusals: false }
        return yield* (yield* Idempotency).run(once, opened(request))
      }),

    listJobs: () =>
      Effect.gen(function* () {
        yield* callerVersion
        const { workspace } = yield* Caller
        const jobs = yield* Effect.mapError((yield* JobStore).list(workspace), refusalOfVoice)
        return jsonAnswer({ jobs: jobs.map(jobProgress), jobs_max: (yield* Configuration).SpeechApi.JobsPerWorkspace })
      }),

    getJob: () => Effect.map(found, (job) => jsonAnswer(jobBody(job), { headers: { "cache-control": "no-store" } })),

    followJob: () =>
      Effect.gen(function* () {
        const job = yield* found
        yield* (yield* Admission).enter((yield* Caller).workspace)
        const events = Stream.mapError((yield* JobEvents).of(job), refusalOfVoice)
        return yield* eventsAnswer(Stream.map(events, jobEvent))
      }),

    deleteJob: () =>
      Effect.gen(function* () {
        const job = yield* found
        const was = yield* Effect.mapError((yield* JobStore).remove(job), refusalOfVoice)
        if (was && !isEnded(job)) (yield* Metrics).counter(jobsEnded).inc({ outcome: "removed" })
        return emptyAnswer()
      }),

    getJobAudio: () => downloaded("audio"),

    getJobCaptions: ({ query }) => Effect.flatMap(query, ({ format = "vtt" }) => downloaded(format)),

    getJobMarks: () =>
      Effect.gen(function* () {
        const { file } = yield* chapterFile("marks")
        const parts = yield* Effect.mapError(Stream.runCollect(file.content), refusalOfVoice)
        return writtenJsonAnswer<JobMarks>(Buffer.concat(parts), { headers: privately })
      })
  },
  options
)
