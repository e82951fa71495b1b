/** `publish`, `tail` and `listen`: publishing events, and following them live. */
import * as Option from "effect/Option"
import { Argument, Command, Flag } from "effect/cli"
import {
  eventName,
  eventPatterns,
  file,
  json,
  nats,
  orUndefined,
  running,
  texts,
  toggle,
  url,
  wholeNumber,
  word
} from "../flags.ts"

const flags = {
  file: file("file", "a file with the JSON object to send, or - for standard input"),
  example: toggle("example", "send the catalogue's example; with --file, its fields lie over the example's"),
  count: wholeNumber("count", { min: 1, max: 1_000_000, description: "how many times (1)" }).pipe(Flag.withDefault(1)),
  unchecked: toggle("unchecked", "send it although it is invalid"),
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
      () => import("../publish.ts"),
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
  { event: eventName("event", "its name, such as work_item.merged"), ...flags },
  (given) =>
    running(
      () => import("../publish.ts"),
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

export const tail = Command.make(
  "tail",
  {
    patterns: eventPatterns("pattern", "names of events, such as work_item.merged or queue.*; without one, all"),
    attempts: toggle("attempts", "delivery attempts and their answers, instead of events"),
    last: wholeNumber("last", { min: 1, max: 10_000, description: "print the last N and exit" }).pipe(orUndefined),
    follow: toggle("follow", "with --last: then keep following").pipe(Flag.withAlias("f")),
    json,
    nats
  },
  (given) =>
    running(
      () => import("../tail.ts"),
      ({ tail }) => tail(given)
    )
).pipe(
  Command.withShortDescription("follow events, or delivery attempts"),
  Command.withDescription(
    "Prints events as they are published, or with --attempts each delivery attempt and its answer, until stopped."
  ),
  Command.withExamples([
    { command: "starling tail 'work_item.*'", description: "everything that happens to work items" },
    { command: "starling tail --attempts --last 100", description: "recent answers of receivers" }
  ])
)

export const listen = Command.make(
  "listen",
  {
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("your own port, such as http://localhost:3000/hooks")
    ),
    filter: texts("filter", "PATTERN", "an event, by name or pattern, repeatable (all but progress events)"),
    secret: file(
      "secret",
      "a file with the secret to sign with, or - for standard input (one is generated and printed)"
    ),
    atOnce: wholeNumber("at-once", { min: 1, max: 64, description: "how many forwards may run at once (16)" }).pipe(
      Flag.withDefault(16)
    ),
    printBody: toggle("print-body", "print each event below its line"),
    json,
    url
  },
  (given) =>
    running(
      () => import("../operate/listen.ts"),
      ({ listen }) => listen(given)
    )
).pipe(
  Command.withShortDescription("forward events to a local port while it runs"),
  Command.withDescription(
    "Posts events to your own port as they are published, signed as a webhook is with the secret that it prints first. Those about one thing come in order. An event is posted once: a failure is printed, not repeated. It makes no endpoint, so nothing is left when it ends."
  ),
  Command.withExamples([
    { command: "starling listen --forward-to http://localhost:3000 --filter 'work_item.*' --print-body" }
  ])
)
