/** `redrive`: sends abandoned deliveries again, by endpoint, event and time. */
import { Effect } from "effect"
import { StreamReader } from "#bus"
import { endpointIdOf, subjects } from "#contracts"
import { redrive as redriveAbandoned, type RedriveQuery } from "../../webhook-dispatcher/redrive.ts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { namesIn, readRoster } from "./endpoint-roster.ts"
import { checkEventNames } from "./event-names.ts"
import { didYouMean } from "./near-names.ts"
import { readParameters } from "./parameters.ts"

export const redrive = (parameters: ReadonlyArray<string>) => runCommand(redriveCommand(parameters))

const redriveCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values } = yield* readParameters({
    args: [...parameters],
    options: {
      endpoint: { type: "string" },
      event: { type: "string", multiple: true, default: [] },
      since: { type: "string" },
      until: { type: "string" },
      max: { type: "string", default: "100000" },
      all: { type: "boolean" },
      nats: { type: "string" }
    }
  })
  if (values.endpoint === undefined && values.event.length === 0 && values.all !== true) {
    return yield* new CommandRefused({ reason: "name an --endpoint, an --event (patterns work), or say --all" })
  }
  const countMax = Number(values.max)
  if (!Number.isInteger(countMax) || countMax < 1) {
    return yield* new CommandRefused({ reason: "--max is a whole number from 1" })
  }
  const query = {
    endpoint: values.endpoint,
    events: values.event,
    sinceMs: yield* moment("since", values.since),
    untilMs: yield* moment("until", values.until),
    countMax
  }
  if ((query.sinceMs ?? 0) > (query.untilMs ?? Number.POSITIVE_INFINITY)) {
    return yield* new CommandRefused({ reason: "--since is after --until" })
  }
  const count = yield* checked(query).pipe(Effect.provide(busOf(values.nats)))
  yield* print(count === 0 ? "nothing abandoned matches" : `${count} deliveries are on their way again`)
})

/** What there is not has nothing abandoned either: it is a slip, not an answer. */
export const checked = Effect.fnUntraced(function* (query: RedriveQuery) {
  if (query.endpoint !== undefined) yield* checkEndpoint(query.endpoint)
  yield* checkEventNames(query.events)
  return yield* redriveAbandoned(query)
})

const checkEndpoint = Effect.fnUntraced(function* (name: string) {
  const id = endpointIdOf(name)
  const known = yield* readRoster
  if (known[id] !== undefined) return
  // One that is long out of the configuration may have left something behind.
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
