/** `types`: the catalogue of events, and the event types of a deployment's own services. */
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { CommandRefused, fileOf, misused, readJsonObject } from "../console.ts"
import { exportedFiles } from "../export/files.ts"
import { eventName, file, json, reason, text, texts, toggle, word } from "../flags.ts"
import { printAct, printObject } from "../answers.ts"
import { slipsIn } from "./catalogue.ts"
import { type Client, withoutUndefined } from "./client.ts"
import { consoleCommand, family, operation } from "./operation.ts"

const settings = {
  file: file("file", "a file with the type as JSON, with the keys of Events.Types in docs/settings.md"),
  owner: texts("owner", "NAME", "who may publish it: a user of the broker, or token:LABEL; again for more"),
  description: text("description", "TEXT", "when it is published"),
  schema: file("schema", "a file with the JSON Schema (2020-12) of its details"),
  example: file("example", "a file with details of an example"),
  schemaVersion: text("schema-version", "VERSION", "the version of its schema (1.0.0)"),
  optIn: toggle("opt-in", "deliver it only to endpoints whose filter asks for it")
}

/** A type from a file; flags go before the keys of that. */
interface Settings {
  readonly file: string | undefined
  readonly owner: ReadonlyArray<string>
  readonly description: string | undefined
  readonly schema: string | undefined
  readonly example: string | undefined
  readonly schemaVersion: string | undefined
  readonly optIn: boolean
}

const settingsOf = Effect.fnUntraced(function* (given: Settings) {
  const [whole, schema, example] = yield* Effect.forEach([given.file, given.schema, given.example], (path) =>
    path === undefined ? Effect.undefined : readJsonObject(path)
  )
  return {
    ...whole,
    ...withoutUndefined({
      Owners: given.owner.length === 0 ? undefined : given.owner,
      Description: given.description,
      Schema: schema,
      Example: example,
      SchemaVersion: given.schemaVersion,
      OptIn: given.optIn || undefined
    })
  }
})

const add = consoleCommand(
  "add",
  {
    about: "Declares an event type, which its owners may publish from now on. Every fault is named by its place.",
    examples: [
      "starling types add order.paid --owner internal-services --schema paid.schema.json --example paid.json",
      "starling types add order.paid --file type.json"
    ],
    flags: { name: word("name", "its name, such as order.paid"), ...settings, reason, json }
  },
  (client, { name, reason, json, ...given }) =>
    Effect.gen(function* () {
      const whole = { ...(yield* settingsOf(given)), Name: name }
      const declared = yield* client.declareEventType({ payload: { reason, settings: whole } })
      const owners = declared.owners.join(", ")
      yield* printAct({ ...declared }, { json, text: `${name} is declared; ${owners} may publish it` })
    })
)

const event = eventName("event", "its name")

/** Changes a type that was declared at run time, as it is now. */
const changed = Effect.fnUntraced(function* (
  client: Client,
  { event, reason, settings }: { readonly event: string; readonly reason: string; readonly settings: object }
) {
  const { revision, source } = yield* shownOf(client, event)
  if (revision === null) {
    const where =
      source === "fleet" ? "one of the fleet's own events" : "in the configuration file and is changed there"
    return yield* new CommandRefused({ reason: `${event} is ${where}` })
  }
  return yield* client.changeEventType({ params: { event }, payload: { reason, revision, settings: { ...settings } } })
})

const shownOf = Effect.fnUntraced(function* (client: Client, event: string) {
  const [slip] = yield* slipsIn(client, [event])
  if (slip !== undefined) return yield* new CommandRefused({ reason: slip })
  return yield* client.getCatalogueEvent({ params: { event } })
})

const change = consoleCommand(
  "change",
  {
    about:
      "Changes an event type that was declared at run time, for the events after it. A schema that refuses the example of before needs another --schema-version.",
    examples: ["starling types change order.paid --schema paid.schema.json --schema-version 1.1.0"],
    flags: {
      event,
      ...settings,
      unset: texts("unset", "KEY", "a key that gets its default again, such as OptIn; again for more"),
      reason,
      json
    }
  },
  (client, { event, unset, reason, json, ...given }) =>
    Effect.gen(function* () {
      const settings = { ...(yield* settingsOf(given)), ...Object.fromEntries(unset.map((key) => [key, null])) }
      if (Object.keys(settings).length === 0) {
        return yield* misused("say what to change: --schema, --owner, --file and others")
      }
      const after = yield* changed(client, { event, reason, settings })
      yield* printAct({ ...after }, { json, text: `${event} is changed; this is its revision ${after.revision}` })
    })
)

const retire = consoleCommand(
  "retire",
  {
    about:
      "Retires an event type that was declared at run time: from now on it is refused. Its events of before are still delivered.",
    examples: ["starling types retire order.paid --reason 'order.settled comes instead'"],
    flags: { event, reason, json }
  },
  (client, { event, reason, json }) =>
    Effect.gen(function* () {
      const after = yield* changed(client, { event, reason, settings: { Retired: true } })
      yield* printAct(
        { ...after },
        { json, text: `${event} is retired; types change ${event} --unset Retired undoes it` }
      )
    })
)

const show = consoleCommand(
  "show",
  {
    about:
      "One event with its example and the schema of its details; with --json, with the schema of its envelope too.",
    flags: { event, json }
  },
  (client, { event, json }) =>
    Effect.gen(function* () {
      const whole = yield* shownOf(client, event)
      const { schema, settings, ...entry } = whole
      const details = settings === null ? detailsIn(schema) : (settings["Schema"] ?? "any object, or null")
      yield* printObject(json ? whole : { ...entry, schema: details }, json)
    })
)

/** The types of a deployment's own services, with their schemas. */
const ownTypes = Effect.fnUntraced(function* (client: Client) {
  const { items } = yield* client.listCatalogue({ query: {} })
  const own = items.filter(({ source }) => source !== "fleet")
  const whole = yield* Effect.forEach(own, ({ event }) => client.getCatalogueEvent({ params: { event } }), {
    concurrency: exportedAtOnce
  })
  return whole.map((type) => ({ ...type, details: type.settings?.["Schema"] }))
})

const exportedAtOnce = 8

const exportTypes = consoleCommand(
  "export",
  {
    about:
      "Writes your own event types to a folder: a JSON Schema of each, an AsyncAPI document, types for TypeScript and Python, and a function in both that verifies a webhook.",
    examples: ["starling types export ./events"],
    flags: { folder: word("folder", "where to write; files of the same names are replaced"), json }
  },
  (client, { folder, json }) =>
    Effect.gen(function* () {
      const files = exportedFiles(yield* ownTypes(client))
      const target = yield* fileOf(folder)
      yield* Effect.forEach(files, ({ path, content }) => written(join(target, path), content), { discard: true })
      const paths = files.map(({ path }) => path)
      yield* printAct({ folder, files: paths }, { json, text: `${paths.length} files are in ${folder}` })
    })
)

const written = (path: string, content: string) =>
  Effect.tryPromise({
    try: async () => {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, content)
    },
    catch: (cause) => new CommandRefused({ reason: `${path} cannot be written: ${String(cause)}` })
  })

export const types = family("types", {
  about: "The catalogue: the fleet's own events, and the event types of your own services.",
  examples: ["starling types list --source run-time"],
  commands: [
    operation("list", "listCatalogue", {
      about: "Every event by name.",
      shown: ({ owners, isRetired, ...entry }) => ({
        ...entry,
        owners: owners.join(", ") || "the fleet",
        state: isRetired ? "retired" : entry.isProgress ? "opt-in" : "active"
      }),
      columns: {
        event: "event",
        from: "source",
        version: "schemaVersion",
        state: "state",
        owners: "owners",
        when: "firedWhen"
      },
      whole: ["event"]
    }),
    show,
    add,
    change,
    retire,
    exportTypes
  ]
})

const detailsIn = (schema: Readonly<Record<string, unknown>>): unknown =>
  (schema["properties"] as Readonly<Record<string, unknown>> | undefined)?.["details"] ?? {}
