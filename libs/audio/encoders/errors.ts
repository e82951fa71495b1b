/**
 * Why there are no encoded bytes, by the caller's next step: `EncoderMissing` is the machine's fault and stays,
 * `EncoderOverloaded` is worth another try later, `EncoderFailed` ends this one answer.
 */
import { Schema } from "effect"

/** No ffmpeg was found where it is expected. */
export class EncoderMissing extends Schema.TaggedError<EncoderMissing>()("EncoderMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail}); install it (apt-get install ffmpeg, brew install ffmpeg) or name it in FFMPEG_PATH`
  }
}

/** An encoder ended too early, or wrote bytes that are no audio. */
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

/** No encoder came free in time, or one did not start in time. */
export class EncoderOverloaded extends Schema.TaggedError<EncoderOverloaded>()("EncoderOverloaded", {
  lacks: Schema.Literals(["places", "starts"]),
  processesMax: Schema.Int,
  waitMsMax: Schema.Finite
}) {
  override get message() {
    return this.lacks === "places"
      ? `all ${this.processesMax} encoders are busy; a request waits ${this.waitMsMax} ms for one at most`
      : `encoders start too slowly; a request waits ${this.waitMsMax} ms for its turn to start one at most`
  }
}

export type AudioError = EncoderMissing | EncoderFailed | EncoderOverloaded
