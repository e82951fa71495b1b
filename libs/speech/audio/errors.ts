/** Why there are no encoded bytes, or no recording. */
import { Schema } from "effect"

/** The machine's fault, and permanent: no ffmpeg was found where it is expected. */
export class FfmpegMissing extends Schema.TaggedError<FfmpegMissing>()("FfmpegMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail}); install it (apt-get install ffmpeg, brew install ffmpeg) or name it in AUDIO_FFMPEG_PATH`
  }
}

/** Ends this one answer: an encoder ended too early, or wrote bytes that are not audio. */
export class EncoderFailed extends Schema.TaggedError<EncoderFailed>()("EncoderFailed", {
  encoder: Schema.String,
  /** Null when a signal ended it. */
  exitCode: Schema.NullOr(Schema.Int),
  /** The last lines of its standard error. */
  lines: Schema.Array(Schema.String)
}) {
  override get message() {
    return `encoder ${this.encoder} ended with ${this.exitCode ?? "a signal"}: ${this.lines.join(" | ")}`
  }
}

/** Worth another try later: no encoder became free in time, or one did not start in time. */
export class EncoderOverloaded extends Schema.TaggedError<EncoderOverloaded>()("EncoderOverloaded", {
  lacks: Schema.Literals(["slots", "starts"]),
  processesMax: Schema.Int,
  waitMsMax: Schema.Finite
}) {
  override get message() {
    return this.lacks === "slots"
      ? `all ${this.processesMax} encoders are busy; a request waits ${this.waitMsMax} ms for one at most`
      : `encoders start too slowly; a request waits ${this.waitMsMax} ms for its turn to start one at most`
  }
}

export type AudioError = FfmpegMissing | EncoderFailed | EncoderOverloaded

/**
 * The sender's to correct. `not_audio`: no decoder here accepts the file; `too_costly`: decoding took too much of the
 * machine.
 */
export class RecordingUnusable extends Schema.TaggedError<RecordingUnusable>()("RecordingUnusable", {
  /** The caller's name for it: `sample`, `consent_recording`. */
  name: Schema.String,
  reason: Schema.Literals(["not_audio", "damaged", "too_short", "too_long", "silent", "clipped", "too_costly"]),
  /** A sentence for people. */
  detail: Schema.String
}) {
  override get message() {
    return `${this.name} cannot be used: ${this.detail}`
  }
}

/** Worth another try: the limits on recordings being read and waiting are both reached. */
export class IntakeBusy extends Schema.TaggedError<IntakeBusy>()("IntakeBusy", {
  waitingMax: Schema.Int,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `${this.waitingMax} recordings wait to be read already; come back in ${this.retryAfterSeconds} s`
  }
}
