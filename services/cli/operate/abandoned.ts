/** `abandoned`: abandoned deliveries. */
import { Effect } from "effect"
import { IdempotencyKey } from "#base/http"
import { CommandRefused } from "../console.ts"
import { json, optional, resendKey, toggle, word } from "../flags.ts"
import { printAct } from "../answers.ts"
import { slipsIn } from "./catalogue.ts"
import { type Client, withoutUndefined } from "./client.ts"
import { flagsOf } from "./endpoint-flags.ts"
import { consoleCommand, family, operation } from "./operation.ts"

const deliveries = (count: number) => (count === 1 ? "1 delivery" : `${count} deliveries`)

export const resentText = ({ count, dryRun }: { readonly count: number; readonly dryRun: boolean }) =>
  dryRun ? `${deliveries(count)} would be sent again` : `${deliveries(count)} on the way again`

/** Nothing was found: an event name missing from the catalogue is the likely reason. */
const refuseSlips = Effect.fnUntraced(function* (client: Client, events: ReadonlyArray<string>) {
  const [slip] = yield* slipsIn(client, events)
  if (slip !== undefined) return yield* new CommandRefused({ reason: `nothing matches: ${slip}` })
})

const resend = consoleCommand(
  "resend",
  {
    about: "Sends abandoned deliveries again, as new deliveries that refer to the old ones.",
    flags: {
      number: optional(word("number", "a single delivery; without it, the filters select")),
      ...flagsOf("resendAllAbandoned"),
      all: toggle("all", "all of them"),
      key: resendKey,
      json
    },
    misuse: ({ number, dryRun, endpoint, events = [], since, all }) => {
      if (number !== undefined)
        return dryRun ? "--dry-run counts what a filter selects; a delivery by its number is one" : undefined
      const isNarrow = endpoint !== undefined || events.length > 0 || since !== undefined
      return isNarrow || all ? undefined : "name a number, an --endpoint, an --event, --since when, or say --all"
    }
  },
  (client, { number, all: _all, key, json, ...filter }) =>
    Effect.gen(function* () {
      if (number !== undefined) {
        const payload = { reason: filter.reason }
        const { deliveryId } = yield* client.resendAbandoned({ params: { sequence: number }, payload })
        return yield* printAct({ deliveryId }, { json, text: `sent again as ${deliveryId}` })
      }
      const resent = yield* client.resendAllAbandoned({
        payload: { ...withoutUndefined(filter), reason: filter.reason }
      })
      if (resent.count === 0) yield* refuseSlips(client, filter.events ?? [])
      yield* printAct(resent, { json, text: resentText(resent) })
    }).pipe(Effect.provideService(IdempotencyKey, key))
)

export const abandoned = family("abandoned", {
  about: "Abandoned deliveries of the last thirty days.",
  examples: ["starling abandoned resend --endpoint demo --dry-run"],
  commands: [
    operation("list", "listAbandoned", {
      about: "Abandoned deliveries, newest first.",
      columns: {
        number: "sequence",
        abandoned: "abandonedAt",
        endpoint: "endpoint",
        event: "event",
        attempts: "attempts",
        status: "lastStatus",
        reason: "reason"
      }
    }),
    operation("show", "getAbandoned", { about: "One abandoned delivery: why it was abandoned, and its body." }),
    resend,
    operation("discard", "discardAbandoned", {
      about: "Deletes an abandoned delivery for good.",
      text: ({ sequence }) => `${sequence} is discarded`
    })
  ]
})
