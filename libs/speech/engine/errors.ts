/**
 * Why there is no speech, by the caller's next step. `EngineMissing`: install the package that it names.
 * `ZeroShotModelUnusable`: correct the configuration. `EngineBusy`: hand the job to another synthesizer. `EngineFailed`
 * says itself whether to try again.
 */
import { Schema } from "effect"

export class EngineMissing extends Schema.TaggedError<EngineMissing>()("EngineMissing", {
  engine: Schema.String,
  packages: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `the engine ${this.engine} needs ${this.packages}: ${this.detail}`
  }
}

/** `crashed` and `stalled` are the engine's fault, and a retry may succeed; the other reasons are the job's. */
export class EngineFailed extends Schema.TaggedError<EngineFailed>()("EngineFailed", {
  engine: Schema.String,
  reason: Schema.Literals(["crashed", "stalled", "voice", "too_long", "refused"]),
  detail: Schema.String
}) {
  get isRetryable() {
    return this.reason === "crashed" || this.reason === "stalled"
  }
  override get message() {
    return `the engine ${this.engine} failed (${this.reason}): ${this.detail}`
  }
}

/** Stops the start: the configured model is missing, or is no model. */
export class ZeroShotModelUnusable extends Schema.TaggedError<ZeroShotModelUnusable>()("ZeroShotModelUnusable", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `VoiceCloning.ZeroShotModelFolder ${this.folder} cannot be used: ${this.detail}`
  }
}

export class EngineBusy extends Schema.TaggedError<EngineBusy>()("EngineBusy", {
  engine: Schema.String,
  waiting: Schema.Int
}) {
  override get message() {
    return `the engine ${this.engine} has ${this.waiting} jobs waiting and takes no more`
  }
}

export type EngineError = EngineMissing | EngineFailed | EngineBusy
