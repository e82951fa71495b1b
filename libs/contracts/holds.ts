/**
 * What keeps a queue or an agent from giving out or taking new work. Each hold has a cause of its own, and goes with
 * that cause alone; work goes on while there is none. Told with events, and shown by the API.
 */
import { Schema } from "effect"
import { Timestamp } from "./primitives.ts"
import { says } from "./speech/says.ts"

/** An operator; a project's budget; credentials that fail, or runs that end too fast; a quota that is used up. */
export const holdCauses = ["manual", "budget", "bench", "quota"] as const
export type HoldCause = (typeof holdCauses)[number]

export const Hold = Schema.Struct({
  cause: Schema.Literals(holdCauses).pipe(
    says(
      "`manual`: an operator, until one resumes it. `budget`: until spend has recovered, or the budget is raised beyond it. `bench`: until the agent is found fit. `quota`: until it is reset."
    )
  ),
  reason: Schema.NullOr(Schema.String),
  pausedBy: Schema.NullOr(Schema.String).pipe(says("The operator; null for every other cause.")),
  since: Timestamp,
  until: Schema.NullOr(Timestamp).pipe(says("When it goes by itself; null where nobody can tell."))
}).annotate({ identifier: "Hold" })
export interface Hold extends Schema.Schema.Type<typeof Hold> {}

export const Holds = Schema.Array(Hold)
