/** `events`: those that were published, and the catalogue's examples. `trigger` publishes an example. */
import { Effect, Result } from "effect"
import { eventCatalogue, findEvent, unknownFilterNames } from "#contracts"
import { CommandRefused, misused, print } from "../console.ts"
import { didYouMean } from "../faults.ts"
import { type Client, type OnConsole, onConsole } from "./client.ts"
import { fieldsFrom } from "./set-fields.ts"
import { givenOf, type OneOrder, printList, printWhole } from "./shown.ts"

/** The refusal of a name that no event has. */
export const noSuchEvent = (name: string): string => {
  const names = eventCatalogue.map((event) => event.name)
  const families = names.map((each) => `${each.slice(0, each.indexOf("."))}.*`)
  return `there is no event ${name}${didYouMean(name, [...names, ...families])}`
}

/** A note for each filter that no event of the catalogue matches: allowed, for names are open, and likely a slip. */
export const nearFilters = (filters: ReadonlyArray<string>) => unknownFilterNames(filters).map(noSuchEvent)

interface ListOrder extends OnConsole {
  readonly event: string | undefined
  readonly entity: string | undefined
  readonly project: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = {
  number: "sequence",
  stored: "storedAt",
  event: "event",
  entity: "entity",
  project: "projectId",
  bytes: "bytes"
}

export const listEvents = ({ url, json, limit, project: projectId, ...filter }: ListOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(
      client.listEvents({ query: { ...givenOf({ ...filter, projectId }), limit: String(limit) } }),
      (page) => printList(page, { json, columns })
    )
  )

export const showEvent = ({ url, number, json }: OneOrder & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getEvent({ params: { sequence: number } }), (whole) => printWhole(whole, json))
  )

interface ExampleOrder extends OnConsole {
  readonly event: string
  readonly set: ReadonlyArray<string>
}

/** Prints the envelope, and nothing else, so that it can become a file. */
export const showExample = ({ url, ...order }: ExampleOrder) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const { example, set } = yield* exampleOf(client, order)
      if (order.set.length === 0) return yield* print(JSON.stringify(example, null, 2))
      // The console checks the whole envelope, which the types of single fields do not tell.
      const payload = { reason: "an example", event: order.event, set, dryRun: true }
      const { envelope } = yield* client.publishExample({ payload })
      yield* print(JSON.stringify(envelope, null, 2))
    })
  )

export const trigger = ({
  url,
  json,
  reason,
  ...order
}: ExampleOrder & { readonly json: boolean; readonly reason: string }) =>
  onConsole({ url }, (client) =>
    Effect.gen(function* () {
      const { set } = yield* exampleOf(client, order)
      const published = yield* client.publishExample({ payload: { reason, event: order.event, set } })
      yield* print(json ? JSON.stringify(published) : `published ${order.event} as ${published.sequence} in EVENTS`)
    })
  )

const exampleOf = Effect.fnUntraced(function* (client: Client, { event, set }: Omit<ExampleOrder, "url">) {
  if (findEvent(event) === undefined) return yield* new CommandRefused({ reason: noSuchEvent(event) })
  const { schema, example } = yield* client.getCatalogueEvent({ params: { event } })
  const fields = fieldsFrom(schema, set)
  if (Result.isFailure(fields)) {
    return yield* misused(
      `these fields of ${event} cannot be set:\n${fields.failure.map((fault) => `  ${fault}`).join("\n")}`
    )
  }
  return { example, set: fields.success }
})
