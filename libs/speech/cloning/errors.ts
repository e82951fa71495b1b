/**
 * Why a sample has no traits, by what the caller does next: `TooLittleVoice` is told to whoever sent it,
 * `VoiceMeasureUnavailable` is ours and worth another try.
 */
import { Schema } from "effect"

export class TooLittleVoice extends Schema.TaggedError<TooLittleVoice>()("TooLittleVoice", {
  voicedSeconds: Schema.Finite,
  voicedSecondsMin: Schema.Finite
}) {
  override get message() {
    return `only ${this.voicedSeconds} s of a voice were heard in the sample; ${this.voicedSecondsMin} s are needed`
  }
}

export class VoiceMeasureUnavailable extends Schema.TaggedError<VoiceMeasureUnavailable>()("VoiceMeasureUnavailable", {
  reason: Schema.Literals(["busy", "timeout", "failed"]),
  detail: Schema.String,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `the voice could not be measured (${this.reason}): ${this.detail}`
  }
}
