/** Sends abandoned deliveries again, by endpoint, event and time. */
import { Effect } from "effect"
import { StreamReader } from "#bus"
import { endpointIdOf, subjects } from "#contracts"
import { readRoster, redrive as redriveAbandoned, type RedriveQuery } from "#webhooks"
import { busOf } from "./connection.ts"
import { namesIn } from "./endpoints.ts"
import { checkEventNames } from "./event-names.ts"
import { didYouMean } from "./near-names.ts"
import { CommandRefused, print } from "./console.ts"

export interface RedriveOrder {
  readonly endpoint: string | undefined
  readonly event: ReadonlyArray<string>
  readonly since: string | undefined
  readonly until: string | undefined
  readonly max: number
  readonly all: boolean
  readonly nats: string | undefined
}

export const redrive = Effect.fnUntraced(function* (order: RedriveOrder) {
  const { endpoint, event: events, max: countMax, all, nats } = order
  if (endpoint === undefined && events.length === 0 && !all) {
    return yield* new CommandRefused({ reason: "name an --endpoint, an --event (patterns work), or say --all" })
  }
  const sinceMs = yield* moment("since", order.since)
  const untilMs = yield* moment("until", order.until)
  if ((sinceMs ?? 0) > (untilMs ?? Number.POSITIVE_INFINITY)) {
    return yield* new CommandRefused({ reason: "--since is after --until" })
  }
  const count = yield* Effect.provide(checked({ endpoint, events, sinceMs, untilMs, countMax }), busOf(nats))
  yield* print(count === 0 ? "nothing abandoned matches" : `${count} deliveries are on their way again`)
})

/** An unknown name has no abandoned deliveries either: it is a slip, and is refused. */
export const checked = Effect.fnUntraced(function* (query: RedriveQuery) {
  if (query.endpoint !== undefined) yield* checkEndpoint(query.endpoint)
  yield* checkEventNames(query.events)
  return yield* redriveAbandoned(query)
})

const checkEndpoint = Effect.fnUntraced(function* (name: string) {
  const id = endpointIdOf(name)
  const { endpoints: known } = yield* readRoster
  if (known[id] !== undefined) return
  // An endpoint that left the configuration long ago may still have abandoned deliveries.
  const left = yield* (yield* StreamReader).countBySubject("ABANDONED", subjects.abandoned(id))
  if (Object.keys(left).length > 0) return
  const names = Object.values(known).map((endpoint) => endpoint.name)
  const reason = `there is no endpoint ${name}${didYouMean(name, names) || ";"} known are: ${namesIn(known)}`
  return yield* new CommandRefused({ reason })
})

const moment = Effect.fnUntraced(function* (name: string, text: string | undefined) {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) return yield* new CommandRefused({ reason: `--${name} is a time such as 2026-11-20T12:00:00Z` })
  return ms
})
