/** Events over HTTP. */
import { Clock, Effect, Result, Stream } from "effect"
import { mayComeFromOutside, Publisher, type SourceMessage, StreamReader } from "#bus"
import {
  compileFilter,
  decodeEnvelope,
  entityOf,
  exampleEnvelope,
  type Fault,
  isoTime,
  storedEventName,
  subjects
} from "#base"
import { decodeStoredEvent, storedEventBody } from "#webhooks"
import { type EventType, exampleEnvelopeOf, faultsOfContent } from "#events"
import { EventsGroup, type EventSummary, liveReplayMax, type PublishedEvent } from "#console/api"
import { Admission, Caller, eventsAnswer, jsonAnswer, notFound, routesOf, validationFailed } from "#http"
import { AuditLog } from "../AuditLog.ts"
import { findDeclaredType } from "./catalogue.ts"
import { apiOptions, cursorText, messageOf, placeOf, refusing, timesOf, whileSignedIn } from "./requests.ts"

interface EventFilter {
  readonly event?: string
  readonly entity?: string
  readonly projectId?: string
}

const summaryOf = (message: SourceMessage): EventSummary => {
  const envelope = Result.getOrUndefined(decodeStoredEvent(message))?.envelope
  return {
    sequence: message.sequence,
    event: storedEventName(message.subject)?.name ?? "",
    storedAt: isoTime(message.storedAtMs),
    entity: envelope === undefined ? null : (entityOf(envelope) ?? null),
    projectId: envelope?.project?.id ?? null,
    bytes: message.data.length
  }
}

const publishedEventOf = (message: SourceMessage, mayReadPayloads: boolean): PublishedEvent => ({
  ...summaryOf(message),
  envelope: mayReadPayloads ? Buffer.from(storedEventBody(message)).toString("utf8") : null
})

const isEvent = ({ subject }: SourceMessage) => storedEventName(subject) !== undefined

/**
 * The subject that holds what a filter selects, and often more: an event from outside is stored under its publisher's
 * name.
 */
const subjectOf = ({ event }: EventFilter) =>
  event === undefined || !/^[\w-]+(?:\.[\w-]+)*$/u.test(event) || mayComeFromOutside(event)
    ? ">"
    : subjects.event(event)

const wanted = ({ event, entity, projectId }: EventFilter) => {
  const wants = event === undefined ? () => true : compileFilter([event])
  return (summary: EventSummary) =>
    wants(summary.event) &&
    (entity === undefined || summary.entity === entity) &&
    (projectId === undefined || summary.projectId === projectId)
}

const messagesAtOnce = 256
/** A page reads no more than this; with few matches it takes several pages. */
const messagesExaminedMax = 2_048

interface Bounds {
  readonly before: number
  readonly limit: number
  readonly sinceMs: number
}

const newestEvents = Effect.fnUntraced(function* (filter: EventFilter, { before, limit, sinceMs }: Bounds) {
  const reader = yield* StreamReader
  const isIn = wanted(filter)
  const items: Array<EventSummary> = []
  let place = before
  for (let examined = 0; examined < messagesExaminedMax; examined += messagesAtOnce) {
    const options = { before: place, subject: subjectOf(filter), messagesMax: messagesAtOnce }
    const messages = yield* reader.newest("EVENTS", options)
    for (const message of messages) {
      if (message.storedAtMs < sinceMs) return { items, nextCursor: null }
      const summary = summaryOf(message)
      if (isEvent(message) && isIn(summary)) items.push(summary)
      place = message.sequence
      if (items.length === limit) return { items, nextCursor: cursorText(String(place)) }
    }
    if (messages.length < messagesAtOnce) return { items, nextCursor: null }
  }
  return { items, nextCursor: cursorText(String(place)) }
})

// Each holds a consumer on the broker and a socket.
const liveMax = 64

/** Room for live streams in this process. */
export const liveStreams = Admission.layer({ runningMax: liveMax, perWorkspaceMax: liveMax })

// The headers go out at once: the first event may be hours away.
const headersWithin = "10 millis"

export const eventRoutes = routesOf(
  EventsGroup,
  {
    listEvents: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const { before, limit } = yield* placeOf(asked)
        const { sinceMs = 0, untilMs } = yield* timesOf(asked)
        const reader = yield* StreamReader
        const { lastSequence: through } = yield* refusing(reader.bounds("EVENTS"))
        const end = untilMs === undefined ? before : yield* refusing(reader.firstAt("EVENTS", untilMs + 1))
        const page = yield* refusing(newestEvents(asked, { before: Math.min(before, end), limit, sinceMs }))
        return jsonAnswer({ ...page, through })
      }),

    streamEvents: ({ query }) =>
      Effect.gen(function* () {
        const { after, ...filter } = yield* query
        const { may, workspace } = yield* Caller
        yield* (yield* Admission).enter(workspace)
        const reader = yield* StreamReader
        const { lastSequence } = yield* refusing(reader.bounds("EVENTS"))
        const isIn = wanted(filter)
        const from = after === undefined ? lastSequence : Math.max(Number(after), lastSequence - liveReplayMax)
        const events = reader.follow("EVENTS", Math.min(from, lastSequence) + 1).pipe(
          Stream.filter(isEvent),
          // Each envelope is decoded once: at a thousand events a second 40 µs more are 4 % of a processor.
          Stream.map((message) => publishedEventOf(message, may("payloads:read"))),
          Stream.filter(isIn),
          Stream.map((event) => ({ id: String(event.sequence), data: JSON.stringify(event) }))
        )
        return yield* refusing(eventsAnswer(whileSignedIn(events), { headersWithin }))
      }),

    getEvent: () =>
      Effect.gen(function* () {
        const message = yield* messageOf("EVENTS", "event")
        if (!isEvent(message)) return yield* notFound("no such event")
        return jsonAnswer(publishedEventOf(message, (yield* Caller).may("payloads:read")))
      }),

    publishExample: ({ body }) =>
      Effect.gen(function* () {
        const { reason, event, set = {}, dryRun = false } = yield* body
        const type = yield* findDeclaredType(event)
        const made = exampleWith(event, set, isoTime(yield* Clock.currentTimeMillis), type)
        if (made === undefined) return yield* validationFailed({ event: "is not in the catalogue" })
        if (Result.isFailure(made)) return yield* validationFailed(made.failure)
        const envelope = made.success
        if (dryRun) return jsonAnswer({ sequence: null, envelope })
        yield* (yield* AuditLog).write({ action: "event-publish", target: event, reason })
        const bytes = new TextEncoder().encode(JSON.stringify(envelope))
        const { sequence } = yield* refusing((yield* Publisher).publishRaw(subjects.event(event), bytes))
        return jsonAnswer({ sequence, envelope })
      })
  },
  apiOptions
)

type Fields = Readonly<Record<string, unknown>>

const fieldsMax = 100
const depthMax = 8

/**
 * Undefined for an event that is not in the catalogue; otherwise the envelope, or every fault by the path of its field.
 */
export const exampleWith = (
  event: string,
  set: Fields,
  occurredAt: string,
  type?: EventType
): Result.Result<Fields, Readonly<Record<string, string>>> | undefined => {
  const example = type === undefined ? exampleEnvelope(event) : exampleEnvelopeOf(type)
  if (example === undefined) return undefined
  if (Object.keys(set).length > fieldsMax) return Result.fail({ set: `has more than ${fieldsMax} fields` })
  let envelope: Fields = { ...example, occurredAt }
  for (const [path, value] of Object.entries(set)) {
    const steps = path.split(".")
    if (steps.length > depthMax || steps.some(isForbidden))
      return Result.fail({ [`set.${path}`]: "is no path of a field" })
    envelope = withField(envelope, steps, value)
  }
  if (envelope["event"] !== event) return Result.fail({ "set.event": "is fixed" })
  const faults = Result.match(decodeEnvelope(envelope), {
    onFailure: (found) => found,
    onSuccess: (decoded) => (type === undefined ? [] : faultsOfContent(type, decoded.envelope))
  })
  return faults.length === 0 ? Result.succeed(envelope) : Result.fail(byPath(faults))
}

const isForbidden = (step: string) => step === "" || step === "__proto__"

const withField = (fields: Fields, [first = "", ...rest]: ReadonlyArray<string>, value: unknown): Fields => {
  return { ...fields, [first]: rest.length === 0 ? value : within(fields[first], rest, value) }
}

/** Steps into a list are indexes of its entries, or the one after them. */
const within = (inner: unknown, steps: ReadonlyArray<string>, value: unknown): unknown => {
  if (!Array.isArray(inner)) {
    return withField(typeof inner === "object" && inner !== null ? (inner as Fields) : {}, steps, value)
  }
  const [step = "", ...rest] = steps
  const index = Number(step)
  if (!/^\d+$/u.test(step) || index > inner.length) return withField({}, steps, value)
  return inner.toSpliced(index, 1, rest.length === 0 ? value : within(inner[index], rest, value))
}

const byPath = (faults: ReadonlyArray<Fault>) =>
  Object.fromEntries(
    faults.slice(0, fieldsMax).map(({ path, message }) => [`set${path.replaceAll("/", ".")}`, message])
  )
