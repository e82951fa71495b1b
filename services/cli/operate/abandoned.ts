/** `abandoned`: deliveries that were given up, and sending them again. */
import { Effect } from "effect"
import { misused, print } from "../console.ts"
import { type OnConsole, onConsole } from "./client.ts"
import { givenOf, printList, printWhole } from "./shown.ts"

interface ListOrder extends OnConsole {
  readonly endpoint: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = {
  number: "sequence",
  abandoned: "abandonedAt",
  endpoint: "endpoint",
  event: "event",
  attempts: "attempts",
  status: "lastStatus",
  reason: "reason"
}

export const listAbandoned = ({ url, json, limit, ...filter }: ListOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.listAbandoned({ query: { ...givenOf(filter), limit: String(limit) } }), (page) =>
      printList(page, { json, columns })
    )
  )

export interface OneOrder extends OnConsole {
  readonly number: string
}

export const showAbandoned = ({ url, number, json }: OneOrder & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getAbandoned({ params: { sequence: number } }), (whole) => printWhole(whole, json))
  )

interface ResendOrder extends OnConsole {
  readonly number: string | undefined
  readonly endpoint: string | undefined
  readonly event: ReadonlyArray<string>
  readonly since: string | undefined
  readonly until: string | undefined
  readonly max: number | undefined
  readonly all: boolean
  readonly dryRun: boolean
  readonly reason: string
}

export const resendAbandoned = Effect.fnUntraced(function* (order: ResendOrder) {
  const { url, number, event: events, all, dryRun, reason, ...filter } = order
  if (number !== undefined) {
    if (dryRun) return yield* misused("--dry-run counts what a filter selects; a delivery by its number is one")
    const sent = yield* onConsole({ url }, (client) =>
      client.resendAbandoned({ params: { sequence: number }, payload: { reason } })
    )
    return yield* print(`sent again as ${sent.deliveryId}`)
  }
  const isNarrow = filter.endpoint !== undefined || events.length > 0 || filter.since !== undefined
  if (!isNarrow && !all) return yield* misused("name a number, an --endpoint, an --event, --since when, or say --all")
  const { count } = yield* onConsole({ url }, (client) =>
    client.resendAllAbandoned({ payload: { reason, dryRun, events, ...givenOf(filter) } })
  )
  yield* print(dryRun ? `${count} deliveries would be sent again` : `${count} deliveries are on their way again`)
})

export const discardAbandoned = ({ url, number, reason }: OneOrder & { readonly reason: string }) =>
  onConsole({ url }, (client) =>
    Effect.andThen(
      client.discardAbandoned({ params: { sequence: number }, payload: { reason } }),
      print(`${number} is discarded`)
    )
  )
