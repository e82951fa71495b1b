/**
 * Shows events as they are published, or delivery attempts, until it is stopped: what happened, in words. With `last` it
 * shows the last N and ends, unless it is to follow. As JSON each complete event or attempt is one line.
 */
import { Effect, Predicate, Result, Schedule, Stream } from "effect"
import { jsonCodec, type SourceMessage, StreamReader } from "#bus"
import { printableLine } from "#base/printable"
import { type Attempt, AttemptBatch } from "#webhooks/contract"
import { compileFilter, entityOf, findEvent, isoTime, storedEventName, type WorkItem } from "#base"
import { decodeStoredEvent, storedEventBody } from "#webhooks"
import { lineOf } from "#console/words"
import { busOf } from "./connection.ts"
import { CommandRefused, print } from "./console.ts"
import { declaredTypes } from "./declared-types.ts"
import { noSuchEvent, unknownNames } from "./event-names.ts"

export interface TailOrder {
  readonly patterns: ReadonlyArray<string>
  readonly attempts: boolean
  readonly json: boolean
  /** Undefined: no earlier ones. Lines are held until the last of them is known. */
  readonly last: number | undefined
  readonly follow: boolean
  /** The names of event types beside the fleet's own. */
  readonly declared?: ReadonlyArray<string>
}

export const tail = ({ nats, ...order }: TailOrder & { readonly nats: string | undefined }) =>
  Effect.gen(function* () {
    const isAllKnown = unknownNames(order.patterns, []).length === 0
    const declared = isAllKnown ? [] : [...(yield* declaredTypes(nats)).keys()]
    yield* Stream.runForEach(tailed({ ...order, declared }), print).pipe(Effect.provide(busOf(nats)))
  })

/** The lines to print. */
export const tailed = (order: TailOrder) =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* checkEventNames(order)
      const reader = yield* StreamReader
      const stream = order.attempts ? "ATTEMPTS" : "EVENTS"
      const wants = compileFilter(order.patterns.length === 0 ? ["*"] : order.patterns)
      const show = order.attempts ? showAttempts(wants, order.json) : showEvent(wants, order.json)
      const bounds = yield* reader.bounds(stream)
      const earlier = order.last === undefined ? [] : yield* lastOf(stream, bounds, order.last, show)
      const coming =
        order.follow || order.last === undefined
          ? followed(stream, bounds.lastSequence + 1).pipe(
              Stream.flatMap((message) => Stream.fromIterable(show(message)))
            )
          : Stream.empty
      return Stream.concat(Stream.fromIterable(earlier), coming).pipe(Stream.map(withMove()))
    })
  )

/** Resumes after the last message when the broker was away. */
const followed = (stream: string, from: number) => {
  let next = from
  return Stream.unwrap(Effect.map(StreamReader, (reader) => Stream.suspend(() => reader.follow(stream, next)))).pipe(
    Stream.tap(({ sequence }) => Effect.sync(() => void (next = sequence + 1))),
    Stream.retry(Schedule.spaced("1 second").pipe(Schedule.while(({ input }) => isUnavailable(input))))
  )
}

const isUnavailable = (error: unknown) => Predicate.isTagged(error, "BusUnavailable")

/** One ever published here counts as known too, even if it is declared no longer. */
const checkEventNames = Effect.fnUntraced(function* ({ patterns, declared = [] }: TailOrder) {
  if (unknownNames(patterns, declared).length === 0) return
  const stored = Object.keys(yield* (yield* StreamReader).countBySubject("EVENTS", ">")).map(
    (subject) => storedEventName(subject)?.name ?? ""
  )
  const [first] = unknownNames(patterns, [...declared, ...stored])
  if (first !== undefined) return yield* new CommandRefused({ reason: noSuchEvent(first, declared) })
})

/** A line before the state is known that its work item comes from. */
interface Shown {
  readonly line: string
  readonly item?: WorkItem | undefined
  /** What it is about, at the line's end. */
  readonly entity?: string | undefined
}

const utf8 = new TextDecoder()

const showEvent =
  (wants: (event: string) => boolean, isJson: boolean) =>
  (message: SourceMessage): ReadonlyArray<Shown> => {
    const event = storedEventName(message.subject)?.name
    if (event === undefined || !wants(event)) return []
    // A publisher may have written it over several lines; between JSON tokens a line end is only whitespace.
    if (isJson) return [{ line: utf8.decode(storedEventBody(message)).replaceAll(/[\r\n]+/gu, " ") }]
    const decoded = Result.getOrUndefined(decodeStoredEvent(message))?.envelope
    const entity = decoded === undefined ? undefined : entityOf(decoded)
    const envelope = decoded === undefined ? null : { ...decoded }
    const words = lineOf({ event, entity: entity ?? null, envelope, firedWhen: findEvent(event)?.firedWhen })
    const line = `${isoTime(message.storedAtMs)} ${message.sequence} ${event} ${words}`
    return [{ line: printableLine(line), entity, item: decoded?.workItem ?? undefined }]
  }

// Their states are a megabyte at most.
const itemsRememberedMax = 10_000

/** The whole line: with the state that a work item came into, from the one that an earlier line had. */
const withMove = () => {
  const states = new Map<string, string>()
  const move = ({ id, state }: WorkItem) => {
    const before = states.get(id)
    states.delete(id)
    states.set(id, state)
    const [oldest = ""] = states.keys()
    if (states.size > itemsRememberedMax) states.delete(oldest)
    if (before === state) return ""
    return before === undefined ? ` (${state})` : ` (${before} → ${state})`
  }
  return ({ line, item, entity }: Shown) =>
    `${line}${printableLine(`${item === undefined ? "" : move(item)}${entity === undefined ? "" : ` ${entity}`}`)}`
}

const attemptBatch = jsonCodec(AttemptBatch)

const showAttempts =
  (wants: (event: string) => boolean, isJson: boolean) =>
  (message: SourceMessage): ReadonlyArray<Shown> => {
    const decoded = attemptBatch.decode(message)
    if (Result.isFailure(decoded)) return []
    return decoded.success
      .filter((attempt) => wants(attempt.event))
      .map((attempt) => ({ line: isJson ? JSON.stringify(attempt) : printableLine(attemptLine(attempt)) }))
  }

const attemptLine = (attempt: Attempt) => {
  const answer = attempt.status ?? attempt.error
  const next = attempt.nextAttemptAt === null ? "" : ` next ${attempt.nextAttemptAt}`
  return `${attempt.startedAt} ${attempt.endpoint} ${attempt.event} attempt ${attempt.attempt} ${attempt.outcome} ${answer} ${attempt.durationMs} ms${next}`
}

// A few of the broker's pages at first; with rare matches, larger windows cost fewer requests.
const windowMin = 1_024
const windowMax = 65_536

/**
 * The last matching messages, searched from the stream's end in growing windows, each read once. In stream order, at
 * most `count`; `show` can turn a message into no lines or several.
 */
export const lastOf = Effect.fnUntraced(function* <A>(
  stream: string,
  { firstSequence, lastSequence }: { readonly firstSequence: number; readonly lastSequence: number },
  count: number,
  show: (message: SourceMessage) => ReadonlyArray<A>
) {
  const reader = yield* StreamReader
  let found: ReadonlyArray<A> = []
  let width = windowMin
  // A stream that never held anything reports 0 for both.
  const first = Math.max(1, firstSequence)
  for (let to = lastSequence; found.length < count && to >= first; width = Math.min(2 * width, windowMax)) {
    const from = Math.max(first, to - width + 1)
    let shown: Array<A> = []
    yield* Stream.runForEach(reader.range(stream, { fromSequence: from, toSequence: to }), (message) =>
      Effect.sync(() => {
        shown.push(...show(message))
        // Truncated only now and then, so that a message costs no copy of the list.
        if (shown.length > 2 * count) shown = shown.slice(-count)
      })
    )
    found = [...shown, ...found].slice(-count)
    to = from - 1
  }
  return found
})
