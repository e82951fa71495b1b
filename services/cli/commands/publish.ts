/** `publish`: events and reports, as an internal service or a runner would send them. */
import { Argument, Command, Flag } from "effect/cli"
import * as Option from "effect/Option"
import { file, nats, toggle, wholeNumber, word } from "../flags.ts"
import { running } from "../running.ts"

const flags = {
  file: file("file", "what to send, as a JSON object in a file, or - for standard input"),
  example: toggle("example", "send the catalogue's example; with --file, its fields lie over the example's"),
  count: wholeNumber("count", { min: 1, max: 1_000_000, description: "how often (1)" }).pipe(Flag.withDefault(1)),
  unchecked: toggle("unchecked", "send it although it is not good"),
  nats
}

const report = Command.make(
  "report",
  {
    kind: word("kind", "which report, such as iteration-ended; without one, all there are").pipe(
      Argument.optional,
      Argument.map(Option.getOrUndefined)
    ),
    ...flags
  },
  (given) =>
    running(
      () => import("../events/report.ts"),
      ({ publishReport }) => publishReport(given)
    )
).pipe(
  Command.withShortDescription("send a report of a runner or a service"),
  Command.withDescription(
    "Sends a report as a runner or an internal service would. What is missing of its head is filled in; it is checked before it is sent, and every fault is named."
  ),
  Command.withExamples([{ command: "starling publish report iteration-ended --example" }])
)

export const publish = Command.make(
  "publish",
  { event: word("event", "its name, such as work_item.merged"), ...flags },
  (given) =>
    running(
      () => import("../events/publish.ts"),
      ({ publish }) => publish(given)
    )
).pipe(
  Command.withShortDescription("publish an event, or a report"),
  Command.withDescription(
    "Publishes an event as an internal service would. Missing heads (version, name, time) are filled in; it is checked before it is sent, and every fault is named."
  ),
  Command.withExamples([
    { command: "starling publish work_item.merged --file dev/examples/merged.json" },
    { command: "starling publish queue.paused --example" }
  ]),
  Command.withSubcommands([report])
)
