/** Jobs between the processes of speech-api: which book is to be spoken. */
import { Schema } from "effect"

/** `queued` until a process has spoken some of it. */
export const jobStates = ["queued", "speaking", "completed", "failed"] as const

export const jobAudioFormats = ["m4b", "mp3"] as const
export type JobAudioFormat = (typeof jobAudioFormats)[number]

/** On SPEECH_JOBS. */
export const JobOrder = Schema.Struct({ workspace: Schema.String, id: Schema.String })
export interface JobOrder extends Schema.Schema.Type<typeof JobOrder> {}
