/** `redrive`: sends abandoned deliveries again, by endpoint, event and time. */
import { Effect } from "effect"
import { redrive as redriveAbandoned } from "../../webhook-dispatcher/redrive.ts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
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
  const count = yield* redriveAbandoned(query).pipe(Effect.provide(busOf(values.nats)))
  yield* print(count === 0 ? "nothing abandoned matches" : `${count} deliveries are on their way again`)
})

const moment = Effect.fnUntraced(function* (name: string, text: string | undefined) {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) return yield* new CommandRefused({ reason: `--${name} is a time such as 2026-11-20T12:00:00Z` })
  return ms
})
