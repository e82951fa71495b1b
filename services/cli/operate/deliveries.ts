/** `deliveries`: what was sent to whom, what was answered, and resending it. */
import { Effect, Option, Schema } from "effect"
import { IdempotencyKey } from "#base/http"
import { note } from "../console.ts"
import { json, optional, resendKey, text, word } from "../flags.ts"
import { resentText } from "./abandoned.ts"
import { printAct, printObject } from "../answers.ts"
import { withoutUndefined } from "./client.ts"
import { flagsOf } from "./endpoint-flags.ts"
import { consoleCommand, family, operation } from "./operation.ts"

const PartOfLog = Schema.Struct({ lookedAt: Schema.Int, messages: Schema.Int, before: Schema.String })
const decodePart = Schema.decodeUnknownOption(Schema.Struct({ error: Schema.Struct({ details: PartOfLog }) }))

/** Repeats the request while the console has searched only a part of its log. */
const throughLog = <A, E, R>(
  ask: (before: string | undefined) => Effect.Effect<A, E, R>,
  before?: string
): Effect.Effect<A, E, R> =>
  Effect.catch(ask(before), (error) => {
    const part = Option.getOrUndefined(decodePart(error))?.error.details
    if (part === undefined) return Effect.fail(error)
    const progress = note(`not among the newest ${part.lookedAt} of ${part.messages} messages, searching further`)
    return Effect.andThen(progress, throughLog(ask, part.before))
  })

const near = text(
  "near",
  "PLACE",
  "the column near of its line in the list; without it the log is searched, newest first"
)

const show = consoleCommand(
  "show",
  {
    about: "One delivery: each attempt with request and answer, and the body.",
    flags: { id: word("id", "the delivery's id, as in X-Service-Delivery"), near, json }
  },
  (client, { id, near, json }) =>
    Effect.flatMap(
      throughLog((before) =>
        client.getDelivery({ params: { deliveryId: id }, query: withoutUndefined({ near, before }) })
      ),
      (whole) => printObject(whole, json)
    )
)

const { places: _places, ...selection } = flagsOf("resendDeliveries")

const resend = consoleCommand(
  "resend",
  {
    about: "Sends deliveries again, as new deliveries that refer to the old ones.",
    examples: ["starling deliveries resend --endpoint demo --outcome failed --since 2026-11-20T12:00:00Z --dry-run"],
    flags: {
      id: optional(word("id", "a single delivery; without one, --endpoint and --since select")),
      near,
      ...selection,
      key: resendKey,
      json
    },
    misuse: ({ id, dryRun, endpoint, since }) => {
      if (id !== undefined)
        return dryRun ? "--dry-run counts what a filter selects; a delivery by its id is one" : undefined
      return endpoint === undefined || since === undefined
        ? "name a delivery by its id, or an --endpoint and --since when"
        : undefined
    }
  },
  (client, { id, near, key, json, ...filter }) =>
    Effect.gen(function* () {
      const { reason } = filter
      if (id === undefined) {
        const resent = yield* client.resendDeliveries({ payload: { ...withoutUndefined(filter), reason } })
        return yield* printAct(resent, { json, text: resentText(resent) })
      }
      const { deliveryId } = yield* throughLog((before) =>
        client.resendDelivery({
          params: { deliveryId: id },
          payload: { reason, ...withoutUndefined({ near, before }) }
        })
      )
      return yield* printAct({ deliveryId }, { json, text: `sent again as ${deliveryId}` })
    }).pipe(Effect.provideService(IdempotencyKey, key))
)

export const deliveries = family("deliveries", {
  about: "Deliveries: what was sent to which endpoint, and what it answered.",
  examples: ["starling deliveries list --endpoint demo --outcome failed"],
  commands: [
    operation("list", "listDeliveries", {
      about: "Attempts of the last seven days, newest first, a line each.",
      columns: {
        started: "startedAt",
        endpoint: "endpoint",
        event: "event",
        attempt: "attempt",
        outcome: "outcome",
        status: "status",
        ms: "durationMs",
        delivery: "deliveryId",
        near: "place",
        error: "error"
      }
    }),
    show,
    resend
  ]
})
