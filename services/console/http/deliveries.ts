/**
 * Deliveries over HTTP.
 *
 * Resends deliveries: each becomes a new delivery of the same event to the same endpoint, which names the old one.
 */
import { randomUUID } from "node:crypto"
import { Effect, Option, Result, Stream } from "effect"
import { StreamReader } from "#bus"
import { AskedDelivery, type Attempt, endpointIdOf } from "#webhooks/contract"
import {
  DeliveriesGroup,
  type DeliveryAttempt,
  type DeliveryLine,
  type DeliveryWhole,
  resendDeliveriesMax
} from "#console/api"
import { amended, Caller, conflict, HttpCall, jsonAnswer, notFound, routesOf, validationFailed } from "#http"
import { askForDelivery, deliveryIdFrom, formatted, readStoredEvent, storedEventBody } from "#webhooks"
import { EventTypes } from "#events"
import { Configuration } from "#configuration"
import { AuditLog } from "../AuditLog.ts"
import {
  type Found,
  type From,
  isWanted,
  type Line,
  lineAt,
  type LineQuery,
  linesOf,
  newestLines,
  type Search,
  searchBack,
  subjectOf,
  wholeDelivery
} from "../deliveries/lines.ts"
import { endpointIds, notSent, refuseUnknown } from "./endpoints.ts"
import { apiOptions, cursorText, type KeyedAct, linePlaceOf, once, refusing, timesOf } from "./requests.ts"

/** The bytes as sent; none once EVENTS no longer has the event. */
export const bodyOf = Effect.fn("bodyOf")(function* ({
  sequence,
  deliveryId,
  format = "starling"
}: Pick<Attempt, "sequence" | "deliveryId" | "format">) {
  const found = yield* (yield* StreamReader).next("EVENTS", sequence)
  const types = yield* EventTypes
  const { Events } = yield* Configuration
  return Option.flatMap(found, (message) => {
    if (message.sequence !== sequence) return Option.none()
    const read = readStoredEvent(message, types)
    if (Result.isFailure(read)) return Option.some(storedEventBody(message, types))
    const { event } = read.success
    const due = { delivery: { ...event, deliveryId }, body: event.body }
    return Option.some(formatted(due, { format, source: Events.Source }).body)
  })
})

/**
 * Returns the outcome. With a key the id is derived from it: if a call was interrupted, its repetition sends the same
 * delivery, which a receiver recognizes by its id.
 */
export const resend = ({ attempt }: { readonly attempt: Attempt }, key: string | undefined) =>
  askForDelivery(
    AskedDelivery.make({
      _tag: "Resend",
      deliveryId: key === undefined ? randomUUID() : deliveryIdFrom(`resend ${attempt.deliveryId} ${key}`),
      endpointId: endpointIdOf(attempt.endpoint),
      of: attempt.deliveryId,
      sequence: attempt.sequence
    })
  )

export interface Selection extends LineQuery {
  readonly sinceMs: number
  readonly countMax: number
  /** Excludes lines after this position in the log; without it, whatever is attempted while this runs. */
  readonly through?: number
}

/** The deliveries of a selection, each once, oldest first. */
export const selected = (selection: Selection) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const isIn = isWanted(selection)
      const seen = new Set<string>()
      const fromSequence = yield* reader.firstAt("ATTEMPTS", selection.sinceMs)
      // Excludes whatever is attempted while this runs, including its own deliveries.
      const { through: toSequence = (yield* reader.bounds("ATTEMPTS")).lastSequence } = selection
      if (toSequence < fromSequence) return Stream.empty
      return reader.range("ATTEMPTS", { fromSequence, toSequence, subject: subjectOf(selection) }).pipe(
        Stream.flatMap((message) => Stream.fromIterable(linesOf(message))),
        Stream.filter(isIn),
        Stream.filter(({ attempt: { deliveryId } }) => !seen.has(deliveryId) && seen.add(deliveryId) === seen),
        Stream.take(selection.countMax)
      )
    })
  )

const placeText = ({ sequence, index }: From) => `${sequence}.${index}`

const placeOf = (text: string): From => {
  const [sequence, index] = text.split(".").map(Number)
  return { sequence: sequence ?? 0, index: index ?? 0 }
}

const lineView = ({ attempt, ...at }: Line): DeliveryLine => ({
  place: placeText(at),
  deliveryId: attempt.deliveryId,
  endpoint: attempt.endpoint,
  event: attempt.event,
  eventSequence: attempt.sequence,
  attempt: attempt.attempt,
  startedAt: attempt.startedAt,
  durationMs: attempt.durationMs,
  outcome: attempt.outcome,
  status: attempt.status,
  error: attempt.error,
  nextAttemptAt: attempt.nextAttemptAt
})

const attemptView = (line: Line, mayReadPayloads: boolean): DeliveryAttempt => {
  const { deliveryId: _id, endpoint: _endpoint, event: _event, eventSequence: _sequence, ...view } = lineView(line)
  const { requestHeaders = null, responseHeaders = null, responseBody, outcome } = line.attempt
  const isKept = mayReadPayloads && outcome !== "delivered"
  return {
    ...view,
    requestHeaders: isKept ? requestHeaders : null,
    responseHeaders: isKept ? responseHeaders : null,
    responseBody: isKept ? responseBody : null
  }
}

/** The text covered by each signature: the body alone, or the body with id and time. */
const signedTextsOf = (body: string, { last }: Found): Readonly<Record<string, string>> => {
  const headers = last.attempt.requestHeaders ?? {}
  const { "webhook-id": id, "webhook-timestamp": timestamp } = headers
  return {
    "X-Service-Signature": body,
    ...(id === undefined || timestamp === undefined ? {} : { "webhook-signature": `${id}.${timestamp}.${body}` })
  }
}

const wholeView = Effect.fnUntraced(function* (found: Found) {
  const { last } = found
  const { may } = yield* Caller
  const mayReadPayloads = may("payloads:read")
  const bytes = mayReadPayloads ? yield* refusing(bodyOf(last.attempt)) : Option.none<Uint8Array>()
  const body = Option.getOrNull(Option.map(bytes, (data) => Buffer.from(data).toString("utf8")))
  const whole: DeliveryWhole = {
    deliveryId: last.attempt.deliveryId,
    endpoint: last.attempt.endpoint,
    event: last.attempt.event,
    eventSequence: last.attempt.sequence,
    attempts: found.lines.map((line) => attemptView(line, mayReadPayloads)),
    isComplete: found.isComplete,
    nextAttemptAt: last.attempt.nextAttemptAt,
    body,
    signedTexts: body === null ? null : signedTextsOf(body, found)
  }
  return whole
})

interface Hint {
  readonly near?: string
  readonly before?: string
}

const foundDelivery = Effect.fnUntraced(function* ({ near, before }: Hint) {
  const { deliveryId = "" } = (yield* HttpCall).params
  if (near !== undefined) {
    const line = yield* refusing(lineAt(placeOf(near)))
    if (Option.isNone(line) || line.value.attempt.deliveryId !== deliveryId) {
      return yield* notFound("no such delivery there")
    }
    return yield* refusing(wholeDelivery(line.value))
  }
  const options = { before: before === undefined ? undefined : Number(before), withinMs: searchWithinMs }
  const search = yield* refusing(searchBack(deliveryId, options))
  return Option.isSome(search.line) ? yield* refusing(wholeDelivery(search.line.value)) : yield* notFoundBy(search)
})

// Shorter than a caller waits, including proxies in between.
const searchWithinMs = 10_000

const notFoundBy = ({ lookedAt, messages, next }: Search) => {
  const where =
    next === undefined
      ? `in the delivery log, which has ${messages} messages`
      : `among the newest ${lookedAt} of ${messages} messages of the delivery log`
  const message = `no attempt of this delivery is ${where}`
  const before = next === undefined ? {} : { before: String(next) }
  return amended(notFound(message), { details: { lookedAt, messages, ...before } })
}

interface Asked {
  readonly places?: ReadonlyArray<string>
  readonly endpoint?: string
  readonly outcome?: Line["attempt"]["outcome"]
  readonly event?: string
  readonly since?: string
  readonly until?: string
  readonly max?: number
}

/** The lines at the given positions, of existing endpoints; one per delivery. */
const linesAt = Effect.fnUntraced(function* (places: ReadonlyArray<string>) {
  const lines = yield* refusing(Effect.forEach(places, (place) => lineAt(placeOf(place)), { concurrency: 8 }))
  const endpoints = yield* endpointIds
  const known = lines
    .flatMap(Option.toArray)
    .filter(({ attempt: { endpoint } }) => endpoints.has(endpointIdOf(endpoint)))
  return Stream.fromIterable(new Map(known.map((line) => [line.attempt.deliveryId, line])).values())
})

const selectionOf = Effect.fnUntraced(function* ({ places: _none, max = resendDeliveriesMax, ...filter }: Asked) {
  const { sinceMs, untilMs } = yield* timesOf(filter)
  if (sinceMs === undefined || filter.endpoint === undefined) {
    return yield* validationFailed({ places: "is needed where endpoint and since are not both given" })
  }
  yield* refuseUnknown(filter.endpoint, () => validationFailed({ endpoint: "there is no such endpoint" }))
  const selection: Selection = { ...filter, sinceMs, untilMs, countMax: max }
  return selection
})

/** The lines to resend: those at the given positions, or those that a filter selects. */
const chosen = Effect.fnUntraced(function* (asked: Asked) {
  return asked.places === undefined ? selected(yield* selectionOf(asked)) : yield* linesAt(asked.places)
})

/** The same for each run with one key: its resends, and later attempts, are excluded from a filter's selection. */
const chosenOnce = Effect.fnUntraced(function* (asked: Asked, { key, upTo }: KeyedAct) {
  if (key === undefined || asked.places !== undefined) return yield* chosen(asked)
  const selection = yield* selectionOf(asked)
  const last = Stream.runFold(
    selected(selection),
    () => 0,
    (_, { sequence }) => sequence
  )
  return selected({ ...selection, through: yield* upTo(refusing(last)) })
})

// The clocks of broker and dispatchers differ.
const clockSkewMs = 2_000

/** Before an event was published no attempt was made for it. Undefined when EVENTS no longer has it. */
const publishedMs = Effect.fnUntraced(function* (eventSequence: number | undefined) {
  if (eventSequence === undefined) return undefined
  const found = Option.getOrUndefined(yield* refusing((yield* StreamReader).next("EVENTS", eventSequence)))
  return found?.sequence === eventSequence ? found.storedAtMs - clockSkewMs : undefined
})

// Enough to keep the broker busy beside live deliveries.
const sendsAtOnce = 16

export const deliveryRoutes = routesOf(
  DeliveriesGroup,
  {
    listDeliveries: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const { sinceMs, untilMs } = yield* timesOf(asked)
        const { limit, from } = yield* linePlaceOf(asked)
        const { endpoint, outcome, event } = asked
        const eventSequence = asked.eventSequence === undefined ? undefined : Number(asked.eventSequence)
        const { lines, next } = yield* refusing(
          newestLines(
            {
              endpoint,
              outcome,
              event,
              eventSequence,
              untilMs,
              sinceMs: sinceMs ?? (yield* publishedMs(eventSequence))
            },
            from === undefined ? undefined : placeOf(from),
            limit
          )
        )
        return jsonAnswer({
          items: lines.map(lineView),
          nextCursor: next === undefined ? null : cursorText(placeText(next))
        })
      }),

    getDelivery: ({ query }) =>
      Effect.gen(function* () {
        return jsonAnswer(yield* wholeView(yield* foundDelivery(yield* query)))
      }),

    resendDelivery: ({ body }) =>
      Effect.gen(function* () {
        const { reason, ...place } = yield* body
        return yield* once(null, ({ key }) =>
          Effect.gen(function* () {
            const { last } = yield* foundDelivery(place)
            yield* refuseUnknown(last.attempt.endpoint, () => conflict("its endpoint is gone"))
            yield* (yield* AuditLog).write({ action: "delivery-resend", target: last.attempt.deliveryId, reason })
            const sent = yield* resend(last, key)
            if (sent._tag !== "Stored") return yield* notSent(sent)
            return jsonAnswer({ deliveryId: sent.deliveryId })
          })
        )
      }),

    resendDeliveries: ({ body }) =>
      Effect.gen(function* () {
        const { reason, dryRun = false, ...asked } = yield* body
        if (dryRun) return jsonAnswer({ count: yield* refusing(Stream.runCount(yield* chosen(asked))), dryRun })
        return yield* once(asked, (keyed) =>
          Effect.gen(function* () {
            const lines = yield* chosenOnce(asked, keyed)
            yield* (yield* AuditLog).write({ action: "delivery-resend", target: JSON.stringify(asked), reason })
            const sent = lines.pipe(
              Stream.mapEffect((line) => resend(line, keyed.key), { concurrency: sendsAtOnce }),
              Stream.filter(({ _tag }) => _tag === "Stored")
            )
            return jsonAnswer({ count: yield* Stream.runCount(sent), dryRun })
          })
        )
      })
  },
  apiOptions
)
