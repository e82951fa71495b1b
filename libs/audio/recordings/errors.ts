/**
 * Why there is no recording, by the caller's next step: `RecordingUnusable` is the sender's to correct, `IntakeBusy` is
 * worth another try, `MediaToolMissing` is the machine's fault and stays.
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

/** `not_audio`: no decoder here takes the file; `too_costly`: decoding took too much of the machine. */
export class RecordingUnusable extends Schema.TaggedError<RecordingUnusable>()("RecordingUnusable", {
  /** The caller's name for it: `sample`, `consent_recording`. */
  name: Schema.String,
  reason: Schema.Literals(unusableReasons),
  /** A sentence for people. */
  detail: Schema.String
}) {
  override get message() {
    return `${this.name} cannot be used: ${this.detail}`
  }
}

/** The limits on recordings that are read and that wait are both reached. */
export class IntakeBusy extends Schema.TaggedError<IntakeBusy>()("IntakeBusy", {
  waitingMax: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `${this.waitingMax} recordings wait to be read already; come back in ${this.retryAfterSeconds} s`
  }
}

/** The program is missing, or cannot be run. */
export class ProgramMissing extends Schema.TaggedError<ProgramMissing>()("ProgramMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail})`
  }
}

/** No ffmpeg was found where it is expected. */
export class MediaToolMissing extends Schema.TaggedError<MediaToolMissing>()("MediaToolMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail}); install it (apt-get install ffmpeg, brew install ffmpeg) or name it in AUDIO_FFMPEG_PATH`
  }
}
