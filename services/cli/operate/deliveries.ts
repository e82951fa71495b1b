/** `deliveries`: what was sent to whom, what was answered, and sending it again. */
import { Effect } from "effect"
import type { AttemptOutcome } from "#contracts"
import { misused, print } from "../console.ts"
import { type OnConsole, onConsole } from "./client.ts"
import { givenOf, printList, printWhole } from "./shown.ts"

interface Filter {
  readonly endpoint: string | undefined
  readonly outcome: AttemptOutcome | undefined
  readonly event: string | undefined
  readonly since: string | undefined
  readonly until: string | undefined
}

interface ListOrder extends OnConsole, Filter {
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = {
  started: "startedAt",
  endpoint: "endpoint",
  event: "event",
  attempt: "attempt",
  outcome: "outcome",
  status: "status",
  ms: "durationMs",
  delivery: "deliveryId",
  near: "place"
}

export const listDeliveries = ({ url, json, limit, ...filter }: ListOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.listDeliveries({ query: { ...givenOf(filter), limit: String(limit) } }), (page) =>
      printList(page, { json, columns })
    )
  )

interface ShowOrder extends OnConsole {
  readonly id: string
  readonly near: string | undefined
  readonly json: boolean
}

export const showDelivery = ({ url, id, near, json }: ShowOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getDelivery({ params: { deliveryId: id }, query: givenOf({ near }) }), (whole) =>
      printWhole(whole, json)
    )
  )

interface ResendOrder extends OnConsole, Filter {
  readonly id: string | undefined
  readonly near: string | undefined
  readonly max: number | undefined
  readonly dryRun: boolean
  readonly reason: string
}

export const resendDeliveries = Effect.fnUntraced(function* (order: ResendOrder) {
  const { url, id, near, reason, dryRun, ...filter } = order
  if (id !== undefined) {
    if (dryRun) return yield* misused("--dry-run counts what a filter selects; a delivery by its id is one")
    const sent = yield* onConsole({ url }, (client) =>
      client.resendDelivery({ params: { deliveryId: id }, payload: { reason, ...givenOf({ near }) } })
    )
    return yield* print(`sent again as ${sent.deliveryId}`)
  }
  if (filter.endpoint === undefined || filter.since === undefined) {
    return yield* misused("name a delivery by its id, or an --endpoint and --since when")
  }
  const { count } = yield* onConsole({ url }, (client) =>
    client.resendDeliveries({ payload: { reason, dryRun, ...givenOf(filter) } })
  )
  yield* print(dryRun ? `${count} deliveries would be sent again` : `${count} deliveries are on their way again`)
})
