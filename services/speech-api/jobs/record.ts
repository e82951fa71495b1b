/**
 * A job as it is kept: the record, which says how far it is, and the plan, which is the text that its chapters and
 * passages were read into. A passage is spoken in one session; its sound is kept until its chapter is a file. Every
 * change is decided by the number of what is done, so that two processes that work on one job do no harm. Pure.
 */
import { Schema, Struct } from "effect"
import { Count, encodeToken } from "#base"
import { jobAudioFormats, jobStates, WordMark } from "#speech/contract"
import { JobRequest } from "#speech/api"

const ChapterRecord = Schema.Struct({
  title: Schema.NullOr(Schema.String),
  document: Count,
  characters: Count,
  passages: Count,
  /** How many of them are spoken, from the first one on. */
  spoken: Count,
  charactersDone: Count,
  samples: Count,
  /** Of its audio file; null until its files are stored. */
  bytes: Schema.NullOr(Count)
})
export interface ChapterRecord extends Schema.Schema.Type<typeof ChapterRecord> {}

const JobFault = Schema.Struct({ code: Schema.String, message: Schema.String })
export type JobFault = typeof JobFault.Type

export const JobRecord = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  createdAtMs: Count,
  changedAtMs: Count,
  status: Schema.Literals(jobStates),
  title: Schema.NullOr(Schema.String),
  audioFormat: Schema.Literals(jobAudioFormats),
  chapters: Schema.Array(ChapterRecord),
  /** Attempts in a row that brought it no further, for a reason that may be its own. */
  fruitless: Count,
  error: Schema.NullOr(JobFault)
})
export interface JobRecord extends Schema.Schema.Type<typeof JobRecord> {}

const PlannedTurn = Schema.Struct({
  speaker: Schema.optionalKey(Count),
  text: Schema.String,
  pauseAfterMs: Count,
  source: Schema.Array(Schema.Tuple([Count, Count, Count]))
})

export const JobPlan = Schema.Struct({
  request: JobRequest.mapFields(Struct.omit(["chapters", "input"])),
  /** The names of the speakers, in the order of the turns' numbers. */
  speakers: Schema.Array(Schema.String),
  /** As they were sent. */
  documents: Schema.Array(Schema.String),
  chapters: Schema.Array(
    Schema.Struct({
      title: Schema.optionalKey(Schema.String),
      document: Count,
      passages: Schema.Array(Schema.Struct({ turns: Schema.Array(PlannedTurn) })),
      sections: Schema.Array(Schema.Struct({ title: Schema.String, passage: Count, turn: Count }))
    })
  )
})
export interface JobPlan extends Schema.Schema.Type<typeof JobPlan> {}
export type PlannedChapter = JobPlan["chapters"][number]

/** What is known of a passage once its sound is stored. Times and turns count from its own begin. */
export const SpokenPassage = Schema.Struct({
  samples: Count,
  sentences: Schema.Array(Schema.Struct({ turn: Count, start: Count, end: Count })),
  words: Schema.Array(WordMark)
})
export interface SpokenPassage extends Schema.Schema.Type<typeof SpokenPassage> {}

export interface JobAddress {
  readonly workspace: string
  readonly id: string
}

export const jobKey = ({ workspace, id }: JobAddress) => `${encodeToken(workspace)}.${encodeToken(id)}`

/** A passage by its place: the numbers of its chapter and in it, from 0. */
export interface PassagePlace {
  readonly chapter: number
  readonly passage: number
}

/** What is to be done next: a passage to be spoken, a chapter to be written, or nothing more. */
export type NextStep =
  | ({ readonly _tag: "Speak" } & PassagePlace)
  | { readonly _tag: "Write"; readonly chapter: number }
  | { readonly _tag: "Done" }

export const nextStep = ({ chapters, status }: Pick<JobRecord, "chapters" | "status">): NextStep => {
  const chapter = chapters.findIndex(({ bytes }) => bytes === null)
  const found = chapters[chapter]
  if (found === undefined || isEnded({ status })) return { _tag: "Done" }
  const { passages, spoken } = found
  return spoken < passages ? { _tag: "Speak", chapter, passage: spoken } : { _tag: "Write", chapter }
}

export const isEnded = ({ status }: Pick<JobRecord, "status">) => status === "completed" || status === "failed"

interface PassageDone extends PassagePlace {
  readonly characters: number
  readonly samples: number
}

/** The record after a passage; the record itself if the passage is not the next one. */
export const afterPassage = (job: JobRecord, { chapter, passage, characters, samples }: PassageDone): JobRecord => {
  const before = job.chapters[chapter]
  if (isEnded(job) || before === undefined || before.spoken !== passage) return job
  const now = {
    ...before,
    spoken: passage + 1,
    charactersDone: before.charactersDone + characters,
    samples: before.samples + samples
  }
  return { ...job, status: "speaking", fruitless: 0, chapters: job.chapters.with(chapter, now) }
}

export const afterChapter = (job: JobRecord, chapter: number, bytes: number): JobRecord => {
  const before = job.chapters[chapter]
  if (isEnded(job) || before === undefined || before.bytes !== null) return job
  const chapters = job.chapters.with(chapter, { ...before, bytes })
  const status = chapters.every((one) => one.bytes !== null) ? "completed" : "speaking"
  return { ...job, status, fruitless: 0, chapters }
}

// A chunk that no engine can speak is tried six times within each of these. All of them take half an hour: the fault may
// be the fleet's.
const fruitlessMax = 10
const restMsMax = 300_000

/** How long a job rests after an attempt that brought it no further. */
export const restMs = ({ fruitless }: Pick<JobRecord, "fruitless">) => Math.min(restMsMax, 5_000 * 2 ** fruitless)

/** `isFinal`: another attempt would fail the same. */
export const afterFailure = (job: JobRecord, fault: JobFault, isFinal: boolean): JobRecord => {
  if (isEnded(job)) return job
  const fruitless = job.fruitless + 1
  return fruitless < fruitlessMax && !isFinal
    ? { ...job, fruitless }
    : { ...job, fruitless, status: "failed", error: fault }
}
