/** A part of a request that the model's provider has no word for. Only the caller can leave it out. */
import { Schema } from "effect"

export class Untranslatable extends Schema.TaggedError<Untranslatable>()("Untranslatable", {
  param: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.param}: ${this.reason}`
  }
}
