/** `tail`: events and attempts as they come. */
import { Command, Flag } from "effect/cli"
import { json, nats, orUndefined, toggle, wholeNumber, words } from "../flags.ts"
import { running } from "../running.ts"

export const tail = Command.make(
  "tail",
  {
    patterns: words("pattern", "names of events, such as work_item.merged or queue.*; without one, all"),
    attempts: toggle("attempts", "show what was sent and answered, instead of events"),
    last: wholeNumber("last", { min: 1, max: 10_000, description: "show the last N there are, and end" }).pipe(
      orUndefined
    ),
    follow: toggle("follow", "with --last: go on from there").pipe(Flag.withAlias("f")),
    json,
    nats
  },
  (given) =>
    running(
      () => import("../events/tail.ts"),
      ({ tail }) => tail(given)
    )
).pipe(
  Command.withShortDescription("watch events, or what was sent and answered"),
  Command.withDescription(
    "Shows events as they are published, or with --attempts what was sent and answered, until it is stopped."
  ),
  Command.withExamples([
    { command: "starling tail 'work_item.*'", description: "all that happens to work items" },
    { command: "starling tail --attempts --last 100", description: "what receivers said lately" }
  ])
)
