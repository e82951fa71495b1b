/** `redrive`: what was given up, once more. */
import { Command, Flag } from "effect/cli"
import { nats, text, texts, toggle, wholeNumber } from "../flags.ts"
import { running } from "../running.ts"

export const redrive = Command.make(
  "redrive",
  {
    endpoint: text("endpoint", "NAME", "those to this endpoint"),
    event: texts("event", "NAME", "those of this event; patterns work, and it may be given again"),
    since: text("since", "TIME", "those abandoned since then, such as 2026-11-20T12:00:00Z"),
    until: text("until", "TIME", "those abandoned until then"),
    max: wholeNumber("max", { min: 1, max: Number.MAX_SAFE_INTEGER, description: "at most so many (100000)" }).pipe(
      Flag.withDefault(100_000)
    ),
    all: toggle("all", "all there are"),
    nats
  },
  (given) =>
    running(
      () => import("../endpoints/redrive.ts"),
      ({ redrive }) => redrive(given)
    )
).pipe(
  Command.withShortDescription("send abandoned deliveries again"),
  Command.withDescription("Sends abandoned deliveries again, by endpoint, event and time."),
  Command.withExamples([
    { command: "starling redrive --endpoint demo" },
    { command: "starling redrive --event 'work_item.*' --since 2026-11-20T12:00:00Z" }
  ])
)
