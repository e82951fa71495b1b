/** How `say` and `pay` end when they were asked wrongly (2) or find no fleet (69). Any other failure ends them with 1. */
import { Effect, Schema } from "effect"

export class SayStopped extends Schema.TaggedError<SayStopped>()("SayStopped", {
  exitCode: Schema.Literals([2, 69]),
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

export const misused = (reason: string) => new SayStopped({ exitCode: 2, reason })

export const noFleet = (reason: string) => new SayStopped({ exitCode: 69, reason })

/** Nothing is open any more when this is reached, so the process may end here. */
export const leave = ({ exitCode, reason }: SayStopped) =>
  Effect.sync(() => {
    process.stderr.write(`starling: ${reason}\n`)
    process.exit(exitCode)
  })
