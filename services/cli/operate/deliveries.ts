/**
 * `deliveries`: what was sent to whom, what was answered, and sending it again. `abandoned`: those that were given up.
 */
import { Effect, Option, Schema } from "effect"
import { type AttemptOutcome, unknownFilterNames } from "#contracts"
import { IdempotencyKey } from "#contracts/http"
import { CommandRefused, misused, note } from "../console.ts"
import { givenOf, type OnConsole, onConsole, type OneOrder, printAct, printList, printWhole } from "./client.ts"
import { noSuchEvent } from "./events.ts"

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
    Effect.flatMap(
      throughLog((before) => client.getDelivery({ params: { deliveryId: id }, query: givenOf({ near, before }) })),
      (whole) => printWhole(whole, json)
    )
  )

const PartOfLog = Schema.Struct({ lookedAt: Schema.Int, messages: Schema.Int, before: Schema.String })
const decodePart = Schema.decodeUnknownOption(Schema.Struct({ error: Schema.Struct({ details: PartOfLog }) }))

/** Asks on while the console has looked at a part of its log only. */
const throughLog = <A, E, R>(
  ask: (before: string | undefined) => Effect.Effect<A, E, R>,
  before?: string
): Effect.Effect<A, E, R> =>
  Effect.catch(ask(before), (error) => {
    const part = Option.getOrUndefined(decodePart(error))?.error.details
    if (part === undefined) return Effect.fail(error)
    const progress = note(`not among the newest ${part.lookedAt} of ${part.messages} messages, looking on`)
    return Effect.andThen(progress, throughLog(ask, part.before))
  })

interface ResendOrder extends OnConsole, Filter {
  readonly id: string | undefined
  readonly near: string | undefined
  readonly max: number | undefined
  readonly dryRun: boolean
  readonly json: boolean
  readonly reason: string
  /** What was sent with it is not sent again. */
  readonly key: string | undefined
}

export const resendDeliveries = Effect.fnUntraced(function* (order: ResendOrder) {
  const { url, id, near, reason, dryRun, key, json, ...filter } = order
  if (id !== undefined) {
    if (dryRun) return yield* misused("--dry-run counts what a filter selects; a delivery by its id is one")
    const sent = yield* onConsole({ url }, (client) =>
      throughLog((before) =>
        client.resendDelivery({ params: { deliveryId: id }, payload: { reason, ...givenOf({ near, before }) } })
      )
    ).pipe(Effect.provideService(IdempotencyKey, key))
    return yield* printAct(sent, { json, text: `sent again as ${sent.deliveryId}` })
  }
  if (filter.endpoint === undefined || filter.since === undefined) {
    return yield* misused("name a delivery by its id, or an --endpoint and --since when")
  }
  const { count } = yield* onConsole({ url }, (client) =>
    client.resendDeliveries({ payload: { reason, dryRun, ...givenOf(filter) } })
  ).pipe(Effect.provideService(IdempotencyKey, key))
  yield* printAct({ count, dryRun }, { json, text: countText(count, dryRun) })
})

interface AbandonedListOrder extends OnConsole {
  readonly endpoint: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const abandonedColumns = {
  number: "sequence",
  abandoned: "abandonedAt",
  endpoint: "endpoint",
  event: "event",
  attempts: "attempts",
  status: "lastStatus",
  reason: "reason"
}

export const listAbandoned = ({ url, json, limit, ...filter }: AbandonedListOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.listAbandoned({ query: { ...givenOf(filter), limit: String(limit) } }), (page) =>
      printList(page, { json, columns: abandonedColumns })
    )
  )

export const showAbandoned = ({ url, number, json }: OneOrder & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getAbandoned({ params: { sequence: number } }), (whole) => printWhole(whole, json))
  )

interface AbandonedResendOrder extends OnConsole, Pick<ResendOrder, "key"> {
  readonly number: string | undefined
  readonly endpoint: string | undefined
  readonly event: ReadonlyArray<string>
  readonly since: string | undefined
  readonly until: string | undefined
  readonly max: number | undefined
  readonly all: boolean
  readonly dryRun: boolean
  readonly json: boolean
  readonly reason: string
}

export const resendAbandoned = Effect.fnUntraced(function* (order: AbandonedResendOrder) {
  const { url, number, event: events, all, dryRun, reason, json, key, ...filter } = order
  if (number !== undefined) {
    if (dryRun) return yield* misused("--dry-run counts what a filter selects; a delivery by its number is one")
    const sent = yield* onConsole({ url }, (client) =>
      client.resendAbandoned({ params: { sequence: number }, payload: { reason } })
    ).pipe(Effect.provideService(IdempotencyKey, key))
    return yield* printAct(sent, { json, text: `sent again as ${sent.deliveryId}` })
  }
  const isNarrow = filter.endpoint !== undefined || events.length > 0 || filter.since !== undefined
  if (!isNarrow && !all) return yield* misused("name a number, an --endpoint, an --event, --since when, or say --all")
  const { count } = yield* onConsole({ url }, (client) =>
    client.resendAllAbandoned({ payload: { reason, dryRun, events, ...givenOf(filter) } })
  ).pipe(Effect.provideService(IdempotencyKey, key))
  if (count === 0) yield* refuseSlips(events)
  yield* printAct({ count, dryRun }, { json, text: countText(count, dryRun) })
})

const countText = (count: number, dryRun: boolean) =>
  dryRun ? `${count} deliveries would be sent again` : `${count} deliveries are on their way again`

interface DiscardOrder extends OneOrder {
  readonly reason: string
  readonly json: boolean
}

export const discardAbandoned = ({ url, number, reason, json }: DiscardOrder) =>
  onConsole({ url }, (client) =>
    Effect.andThen(
      client.discardAbandoned({ params: { sequence: number }, payload: { reason } }),
      printAct({ sequence: Number(number) }, { json, text: `${number} is discarded` })
    )
  )

/** Nothing was found: a name that no event of the catalogue has is the likely reason. */
const refuseSlips = Effect.fnUntraced(function* (events: ReadonlyArray<string>) {
  const [unknown] = unknownFilterNames(events)
  if (unknown !== undefined) return yield* new CommandRefused({ reason: `nothing matches: ${noSuchEvent(unknown)}` })
})
