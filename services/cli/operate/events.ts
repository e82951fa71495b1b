/** `events`: published ones, and the catalogue's examples. `trigger` publishes an example. */
import { Effect, Result } from "effect"
import { CommandRefused, misused, print } from "../console.ts"
import { eventName, json, reason, texts } from "../flags.ts"
import { printAct } from "../answers.ts"
import { slipsIn } from "./catalogue.ts"
import { type Client } from "./client.ts"
import { consoleCommand, family, operation } from "./operation.ts"
import { fieldsFrom } from "./set-fields.ts"

const example = {
  event: eventName("event", "its name in the catalogue, such as work_item.merged"),
  set: texts("set", "PATH=VALUE", "a field to be other than the example's, such as workItem.title=x; again for more")
}

interface Example {
  readonly event: string
  readonly set: ReadonlyArray<string>
}

const exampleOf = Effect.fnUntraced(function* (client: Client, { event, set }: Example) {
  const [slip] = yield* slipsIn(client, [event])
  if (slip !== undefined) return yield* new CommandRefused({ reason: slip })
  const { schema, example } = yield* client.getCatalogueEvent({ params: { event } })
  const fields = fieldsFrom(schema, set)
  if (Result.isFailure(fields)) {
    return yield* misused(
      `these fields of ${event} cannot be set:\n${fields.failure.map((fault) => `  ${fault}`).join("\n")}`
    )
  }
  return { example, set: fields.success }
})

/** Prints only the envelope, so that it can become a file. */
const showExample = consoleCommand(
  "example",
  {
    about:
      "The catalogue's example of an event, as JSON. Fields that are set get the type that the event's schema gives them; every fault is named by its path. Publishes nothing.",
    examples: ["starling events example work_item.merged --set 'workItem.title=Mend it'"],
    flags: example
  },
  (client, given) =>
    Effect.gen(function* () {
      const { example, set } = yield* exampleOf(client, given)
      if (given.set.length === 0) return yield* print(JSON.stringify(example, null, 2))
      // The console checks the complete envelope, beyond the types of single fields.
      const payload = { reason: "an example", event: given.event, set, dryRun: true }
      const { envelope } = yield* client.publishExample({ payload })
      yield* print(JSON.stringify(envelope, null, 2))
    })
)

export const events = family("events", {
  about: "Published events, of the last 35 days, and the catalogue's examples.",
  examples: ["starling events list --event 'work_item.*' --since 2026-11-20T12:00:00Z"],
  commands: [
    operation("list", "listEvents", {
      about: "Published events, newest first.",
      columns: {
        number: "sequence",
        stored: "storedAt",
        event: "event",
        entity: "entity",
        project: "projectId",
        bytes: "bytes"
      }
    }),
    operation("show", "getEvent", { about: "One event with its envelope." }),
    showExample
  ]
})

export const trigger = consoleCommand(
  "trigger",
  {
    about:
      "Publishes the catalogue's example of an event, with fields set otherwise and the time of now. Every endpoint that wants the event gets it; nothing of the pipeline changes.",
    examples: ["starling trigger work_item.merged --set workItem.upstreamPushAttempts=2"],
    flags: { ...example, reason, json }
  },
  (client, { event, reason, json, ...given }) =>
    Effect.gen(function* () {
      const { set } = yield* exampleOf(client, { event, ...given })
      const published = yield* client.publishExample({ payload: { reason, event, set } })
      yield* printAct({ ...published }, { json, text: `published ${event} as ${published.sequence} in EVENTS` })
    })
)
