/** The trial of an endpoint's filters over the newest events, which changes nothing. */
import { Effect, Result } from "effect"
import { StreamReader } from "#bus"
import { isoTime } from "#base"
import { EventTypes } from "#events"
import { decodeEndpointFilters } from "#webhooks/contract"
import { fittingShownMax, othersShownMax, type TriedEvent, type TryFilter } from "#console/api"
import { eventNames, filterFaults, InvalidEndpoint, readStoredEvent, type StoredEvent, tryFilters } from "#webhooks"
import { Caller, insufficientScope, jsonAnswer } from "#http"

const eventsMax = 100
// Their values are shown on one line.
const foundCharactersMax = 100

export const tryFilter = Effect.fnUntraced(function* ({ settings }: typeof TryFilter.Type) {
  yield* (yield* EventTypes).catchUp
  const filters = yield* filtersOf(settings)
  // What fits tells what the envelopes hold.
  const isByName = filters.ContentFilter === undefined
  if (!isByName && !(yield* Caller).may("payloads:read")) return yield* insufficientScope(["payloads:read"])
  const events = yield* newestEvents
  const { fitting, others } = tryFilters(filters, events)
  return jsonAnswer({
    examined: events.length,
    fitting: fitting.length,
    shown: fitting.slice(0, fittingShownMax).map(triedEvent),
    others: others.slice(0, othersShownMax).map(({ event, mismatch: { path, found } }) => ({
      ...triedEvent(event),
      path,
      found: found === undefined ? null : JSON.stringify(found).slice(0, foundCharactersMax)
    }))
  })
})

const filtersOf = (settings: unknown) =>
  Effect.gen(function* () {
    const filters = yield* Effect.fromResult(decodeEndpointFilters(settings))
    const types = yield* EventTypes
    const faults = filterFaults(filters, eventNames(types))
    return faults.length === 0 ? filters : yield* Effect.fail(faults)
  }).pipe(Effect.mapError((faults) => new InvalidEndpoint({ faults })))

/** The newest that are valid, the newest first. One more is read, for a cursor may lie among them. */
const newestEvents = Effect.gen(function* () {
  const [reader, types] = [yield* StreamReader, yield* EventTypes]
  const options = { before: Number.MAX_SAFE_INTEGER, subject: ">", messagesMax: eventsMax + 1 }
  const messages = yield* reader.newest("EVENTS", options)
  return messages
    .map((message) => readStoredEvent(message, types))
    .flatMap((read) => (Result.isSuccess(read) ? [read.success.event] : []))
    .slice(0, eventsMax)
})

const triedEvent = ({ sequence, event, storedAtMs, entity }: StoredEvent): TriedEvent => ({
  sequence,
  event,
  storedAt: isoTime(storedAtMs),
  entity: entity ?? null
})
