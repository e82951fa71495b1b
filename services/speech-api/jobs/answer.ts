/** Jobs on the wire: as they are answered, and their events. Pure. */
import { speechSampleRateHz } from "#speech/contract"
import type { Job, JobProgress } from "#speech/api"
import { isoTime } from "#base"
import { jsonEvent, type ServerSentEvent } from "#http"
import { jobKeptMs } from "./JobStore.ts"
import { type ChapterRecord, isEnded, type JobRecord } from "./record.ts"

const sum = (chapters: ReadonlyArray<ChapterRecord>, of: (chapter: ChapterRecord) => number) =>
  chapters.reduce((total, chapter) => total + of(chapter), 0)

const durationMs = (samples: number) => (samples * 1_000) / speechSampleRateHz

export const jobProgress = (job: JobRecord): JobProgress => ({
  id: job.id,
  object: "speech.job",
  status: job.status,
  title: job.title,
  audio_format: job.audioFormat,
  characters: sum(job.chapters, ({ characters }) => characters),
  characters_done: sum(job.chapters, ({ charactersDone }) => charactersDone),
  audio_duration_ms: durationMs(sum(job.chapters, ({ samples }) => samples)),
  chapters_count: job.chapters.length,
  chapters_done: job.chapters.filter(({ bytes }) => bytes !== null).length,
  created_at: isoTime(job.createdAtMs),
  changed_at: isoTime(job.changedAtMs),
  expires_at: isoTime(job.changedAtMs + jobKeptMs),
  error: job.error
})

export const jobBody = (job: JobRecord): Job => ({
  ...jobProgress(job),
  chapters: job.chapters.map((chapter, at) => {
    const path = (part: string) =>
      chapter.bytes === null ? null : `/v1/audio/jobs/${job.id}/chapters/${at + 1}/${part}`
    return {
      chapter: at + 1,
      title: chapter.title,
      document: chapter.document,
      characters: chapter.characters,
      characters_done: chapter.charactersDone,
      audio_duration_ms: durationMs(chapter.samples),
      audio_bytes: chapter.bytes,
      audio: path("audio"),
      captions: path("captions"),
      marks: path("marks")
    }
  })
})

/** The last event of an ended job has its own name. */
export const jobEvent = (job: JobRecord): ServerSentEvent => {
  const event = isEnded(job) ? `job.${job.status}` : "job.progress"
  return jsonEvent({ type: event, job: jobProgress(job) }, event)
}
