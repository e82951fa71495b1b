/**
 * Why there are no encoded bytes, by what the caller does next: `EncoderMissing` is the machine's fault and
 * stays, `EncoderOverloaded` is worth another try later, `EncoderFailed` ends this one answer.
 */
import { Schema } from "effect"

/** There is no ffmpeg where it was looked for. */
export class EncoderMissing extends Schema.TaggedError<EncoderMissing>()("EncoderMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `cannot start ${this.path} (${this.detail}); install it (apt-get install ffmpeg, brew install ffmpeg) or name it in FFMPEG_PATH`
  }
}

/** An encoder ended before its work was done, or wrote what is no audio. */
export class EncoderFailed extends Schema.TaggedError<EncoderFailed>()("EncoderFailed", {
  encoder: Schema.String,
  /** Null when a signal ended it. */
  exitCode: Schema.NullOr(Schema.Int),
  /** The last it said. */
  lines: Schema.Array(Schema.String)
}) {
  override get message() {
    return `encoder ${this.encoder} ended with ${this.exitCode ?? "a signal"}: ${this.lines.join(" | ")}`
  }
}

/** None came free in time of as many as may run, or one that may run did not start in time. */
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
