/**
 * Why there is no recording, by what the caller does next: `RecordingUnusable` is told to whoever sent it,
 * `IntakeBusy` is worth another try, `MediaToolMissing` is the machine's fault and stays.
 */
import { Schema } from "effect"

export const unusableReasons = [
  "not_audio",
  "damaged",
  "too_short",
  "too_long",
  "silent",
  "clipped",
  "too_costly"
] as const

/** `not_audio` stands for every file that no decoder here takes; `too_costly` for one that took too much of the machine. */
export class RecordingUnusable extends Schema.TaggedError<RecordingUnusable>()("RecordingUnusable", {
  /** As the caller named it: `sample`, `consent_recording`. */
  name: Schema.String,
  reason: Schema.Literals(unusableReasons),
  /** A sentence for people. */
  detail: Schema.String
}) {
  override get message() {
    return `${this.name} cannot be used: ${this.detail}`
  }
}

/** As many recordings are read or wait as may. */
export class IntakeBusy extends Schema.TaggedError<IntakeBusy>()("IntakeBusy", {
  waitingMax: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `${this.waitingMax} recordings wait to be read already; come back in ${this.retryAfterSeconds} s`
  }
}

/** There is no such program, or it cannot be run. */
export class ProgramMissing extends Schema.TaggedError<ProgramMissing>()("ProgramMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail})`
  }
}

/** There is no ffmpeg where it was looked for. */
export class MediaToolMissing extends Schema.TaggedError<MediaToolMissing>()("MediaToolMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail}); install it (apt-get install ffmpeg, brew install ffmpeg) or name it in AUDIO_FFMPEG_PATH`
  }
}
