/**
 * The delivery log, read from its end, and one complete delivery. ATTEMPTS keeps the attempts of an endpoint and an
 * outcome on a subject of their own, in batches, so that a page costs a few messages however many there are.
 */
import { Clock, Effect, Option, Result, Stream } from "effect"
import { type BusError, type SourceMessage, StreamReader } from "#bus"
import { type Attempt, type AttemptOutcome, endpointIdOf } from "#webhooks/contract"
import { compileFilter, subjects } from "#base"
import { attemptBatchCodec } from "#webhooks"

/** A line of the log and its position. */
export interface Line {
  readonly sequence: number
  readonly index: number
  readonly attempt: Attempt
}

export interface LineQuery {
  readonly endpoint?: string | undefined
  readonly outcome?: AttemptOutcome | undefined
  readonly event?: string | undefined
  /** Only one event, by its position in EVENTS. */
  readonly eventSequence?: number | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** Lines before this position; without one, from the end. */
export interface From {
  readonly sequence: number
  readonly index: number
}

export interface LinePage {
  readonly lines: ReadonlyArray<Line>
  /** The position to continue from; undefined when there is nothing older. */
  readonly next: From | undefined
}

/** The lines of one message, first one first; empty for an unreadable message. */
export const linesOf = (message: SourceMessage): ReadonlyArray<Line> =>
  Result.match(attemptBatchCodec.decode(message), {
    onFailure: () => [],
    onSuccess: (attempts) => attempts.map((attempt, index) => ({ sequence: message.sequence, index, attempt }))
  })

export const subjectOf = ({ endpoint, outcome }: LineQuery) =>
  subjects.attempts(endpoint === undefined ? "*" : endpointIdOf(endpoint), outcome ?? "*")

/** Whether a line matches a query's event and times, which are in no subject. Pure. */
export const isWanted = ({ event, eventSequence, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY }: LineQuery) => {
  const wants = event === undefined ? () => true : compileFilter([event])
  return ({ attempt }: Line) => {
    if (eventSequence !== undefined && attempt.sequence !== eventSequence) return false
    const startedAtMs = Date.parse(attempt.startedAt)
    return startedAtMs >= sinceMs && startedAtMs <= untilMs && wants(attempt.event)
  }
}

// At full rate a message holds ten or more lines: the first few fill a page.
const messagesAtFirst = 8
const messagesAtOnceMax = 64
/** A page reads no more than this; a rare event takes several pages. */
const messagesExaminedMax = 256

// A line is written when its attempt ended, possibly minutes after it started.
const longestAttemptMs = 15 * 60_000

/** The newest lines of a query, newest first. */
export const newestLines = Effect.fn("newestLines")(function* (
  query: LineQuery,
  from: From | undefined,
  linesMax: number
): Effect.fn.Return<LinePage, BusError, StreamReader> {
  const reader = yield* StreamReader
  const subject = subjectOf(query)
  const isIn = isWanted(query)
  const lines: Array<Line> = []
  let examined = 0
  let before = from === undefined ? yield* endOf(query) : from.sequence + 1
  for (let atOnce = messagesAtFirst; ; atOnce = Math.min(atOnce * 2, messagesAtOnceMax)) {
    const messages = yield* reader.newest("ATTEMPTS", { before, subject, messagesMax: atOnce })
    for (const message of messages) {
      if (message.storedAtMs < (query.sinceMs ?? 0)) return { lines, next: undefined }
      const upTo = message.sequence === from?.sequence ? from.index : Number.POSITIVE_INFINITY
      for (const line of linesOf(message).toReversed()) {
        if (line.index >= upTo || !isIn(line)) continue
        if (lines.length === linesMax) return { lines, next: placeAfter(lines) }
        lines.push(line)
      }
      before = message.sequence
    }
    examined += messages.length
    if (messages.length < atOnce) return { lines, next: undefined }
    if (examined >= messagesExaminedMax) return { lines, next: { sequence: before, index: 0 } }
  }
})

const endOf = Effect.fnUntraced(function* ({ untilMs }: LineQuery) {
  if (untilMs === undefined) return Number.MAX_SAFE_INTEGER
  return yield* (yield* StreamReader).firstAt("ATTEMPTS", untilMs + longestAttemptMs)
})

const placeAfter = (lines: ReadonlyArray<Line>): From | undefined => {
  const last = lines.at(-1)
  return last === undefined ? undefined : { sequence: last.sequence, index: last.index }
}

/** The line at a position, if any. */
export const lineAt = Effect.fn("lineAt")(function* ({ sequence, index }: From) {
  const found = yield* (yield* StreamReader).next("ATTEMPTS", sequence)
  return Option.flatMap(found, (message) =>
    message.sequence === sequence ? Option.fromNullishOr(linesOf(message)[index]) : Option.none()
  )
})

export interface Found {
  /** The first attempt first. */
  readonly lines: ReadonlyArray<Line>
  readonly last: Line
  /** Whether no attempt up to the last one is missing, nor one that is overdue. */
  readonly isComplete: boolean
}

// The clocks of dispatchers and brokers differ, and a line is written within milliseconds of its attempt's end.
const clockDifferenceMs = 2_000
/** Around a known time; at 500 attempts a second to one endpoint these span over a minute. */
const messagesLookedAtMax = 1_024
// The longest schedules have fewer.
const attemptsMax = 100

/**
 * One delivery, from any line of it. Its attempts can be days apart, among millions: each records when its neighbours
 * were.
 */
export const wholeDelivery = Effect.fn("wholeDelivery")(function* (
  known: Line
): Effect.fn.Return<Found, BusError, StreamReader> {
  const lines = [known]
  let first = known
  while (first.attempt.previousEndedAt !== undefined && lines.length < attemptsMax) {
    const earlier = yield* lineAfter(first, first.attempt.previousEndedAt, first.attempt.attempt - 1)
    if (Option.isNone(earlier)) break
    first = earlier.value
    lines.unshift(first)
  }
  let last = known
  while (last.attempt.nextAttemptAt !== null && lines.length < attemptsMax) {
    const nextLine = yield* lineAfter(last, Date.parse(last.attempt.nextAttemptAt), last.attempt.attempt + 1)
    if (Option.isNone(nextLine)) break
    last = nextLine.value
    lines.push(last)
  }
  return { lines, last, isComplete: isComplete(lines, yield* Clock.currentTimeMillis) }
})

/** Whether neither an attempt before the first line is missing, nor one due after the last. Pure. */
export const isComplete = (lines: ReadonlyArray<Line>, nowMs: number) => {
  const due = lines.at(-1)?.attempt.nextAttemptAt ?? null
  return lines[0]?.attempt.attempt === 1 && (due === null || Date.parse(due) > nowMs)
}

/** The line of another attempt of the same delivery, written at `atMs` or soon after. */
const lineAfter = Effect.fnUntraced(function* (
  { attempt: { deliveryId, endpoint } }: Line,
  atMs: number,
  number: number
) {
  const reader = yield* StreamReader
  const fromSequence = yield* reader.firstAt("ATTEMPTS", atMs - clockDifferenceMs)
  const subject = subjects.attempts(endpointIdOf(endpoint), "*")
  return yield* reader.range("ATTEMPTS", { fromSequence, toSequence: Number.MAX_SAFE_INTEGER, subject }).pipe(
    Stream.take(messagesLookedAtMax),
    Stream.flatMap((message) => Stream.fromIterable(linesOf(message))),
    Stream.filter(({ attempt }) => attempt.deliveryId === deliveryId && attempt.attempt === number),
    Stream.runHead
  )
})

export interface Search {
  /** The newest line of the delivery. */
  readonly line: Option.Option<Line>
  /** Messages of the log searched so far, from its end, including those of earlier searches. */
  readonly lookedAt: number
  /** All messages in the log. */
  readonly messages: number
  /** The position before which to continue; undefined when there is nothing older. */
  readonly next: number | undefined
}

interface SearchOptions {
  /** Only messages before this position. */
  readonly before: number | undefined
  readonly withinMs: number
}

// A few concurrent requests to the broker: it reads while this process searches.
const windowMessages = 256
const windowsAtOnce = 4

/**
 * Searches the entire log for a delivery, newest first: no subject has its id. A second is enough for about ten
 * thousand messages, so it stops in time and returns where the next search continues.
 */
export const searchBack = Effect.fn("searchBack")(function* (deliveryId: string, { before, withinMs }: SearchOptions) {
  const reader = yield* StreamReader
  const { firstSequence, lastSequence, messages } = yield* reader.bounds("ATTEMPTS")
  const endsAtMs = (yield* Clock.currentTimeMillis) + withinMs
  const first = Math.max(1, firstSequence)
  const result = (line: Option.Option<Line>, end: number): Search => ({
    line,
    lookedAt: Math.min(messages, lastSequence + 1 - end),
    messages,
    next: end > first ? end : undefined
  })
  let end = Math.min(before ?? Number.POSITIVE_INFINITY, lastSequence + 1)
  while (end > first) {
    const windows = windowsBefore(end, first)
    const pages = yield* Effect.forEach(windows, (window) => Stream.runCollect(reader.range("ATTEMPTS", window)), {
      concurrency: windowsAtOnce
    })
    end = windows.at(-1)?.fromSequence ?? first
    const line = pages.flatMap((page) => page.toReversed()).flatMap((message) => lineOf(message, deliveryId))
    if (line[0] !== undefined) return result(Option.some(line[0]), end)
    if ((yield* Clock.currentTimeMillis) >= endsAtMs) break
  }
  return result(Option.none(), Math.max(end, first))
})

/** The next windows of the log before a position, newest first. */
const windowsBefore = (end: number, first: number) =>
  Array.from({ length: windowsAtOnce }, (_, index) => end - index * windowMessages)
    .filter((windowEnd) => windowEnd > first)
    .map((windowEnd) => ({
      fromSequence: Math.max(first, windowEnd - windowMessages),
      toSequence: windowEnd - 1
    }))

/** The newest line of the delivery in a message. Only a message that contains the id is decoded. */
const lineOf = (message: SourceMessage, deliveryId: string): ReadonlyArray<Line> => {
  const { buffer, byteOffset, byteLength } = message.data
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(deliveryId)) return []
  return linesOf(message)
    .filter(({ attempt }) => attempt.deliveryId === deliveryId)
    .toReversed()
}
