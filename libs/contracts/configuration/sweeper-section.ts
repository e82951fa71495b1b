/** `Sweeper`: how often each sweep looks, in seconds, and how much one look may do. */
import { Schema } from "effect"
import { section, withDefault } from "./defaults.ts"

const every = Schema.Finite.check(Schema.isBetween({ minimum: 0.1, maximum: 86_400 }))

export const Sweeper = section({
  WatchdogSeconds: withDefault(every, 15, "Looks for runners that are silent and for items that do not move."),
  RetrySeconds: withDefault(every, 5, "Lets items go on whose transient retry or quota reset is due."),
  AgentSeconds: withDefault(every, 5, "Ends pauses of agents whose time is over, and quotas that are reset."),
  RestoreSeconds: withDefault(every, 30, "Looks through the failed items of agents that are back."),
  BudgetSeconds: withDefault(every, 60, "Adds up what projects spent and compares it with their budgets."),
  ReleaseSeconds: withDefault(every, 60, "Looks for linked items whose end their release was not told of."),
  RetentionSeconds: withDefault(every, 3_600, "Forgets items and releases that ended long ago."),
  AdviceSeconds: withDefault(every, 30, "Looks whether now is the best time to spend a quota."),
  ReconciliationSeconds: withDefault(every, 300, "Compares the log with the events and the views made of it."),
  ActionsMax: withDefault(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
    1_000,
    "Commands that one sweep sends; what is left is for the next."
  ),
  Concurrency: withDefault(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 256 })),
    16,
    "Commands of one sweep on the way at once."
  )
})
export interface Sweeper extends Schema.Schema.Type<typeof Sweeper> {}
