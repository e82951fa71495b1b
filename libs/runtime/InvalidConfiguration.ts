/** What makes a configuration unusable. */
import { Schema } from "effect"
import { Fault } from "#base"

export type ConfigurationFault = Fault

/** Every fault of the configuration at once. Nothing starts. */
export class InvalidConfiguration extends Schema.TaggedError<InvalidConfiguration>()("InvalidConfiguration", {
  faults: Schema.Array(Fault)
}) {
  override get message() {
    const lines = this.faults.map(({ path, message }) => (path === "" ? `  - ${message}` : `  - ${path}: ${message}`))
    return `the configuration is not usable:\n${lines.join("\n")}`
  }
}
