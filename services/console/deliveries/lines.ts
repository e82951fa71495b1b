/**
 * The delivery log, read from its end: ATTEMPTS keeps the attempts of an endpoint and an outcome on a subject of their
 * own, in batches, so that a page costs a few messages however many there are.
 */
import { Effect, Option, Result } from "effect"
import { type BusError, type SourceMessage, StreamReader } from "#bus"
import { type Attempt, type AttemptOutcome, compileFilter, endpointIdOf, subjects } from "#contracts"
import { attemptBatchCodec } from "#webhooks"

/** A line of the log and its place. */
export interface Line {
  readonly sequence: number
  readonly index: number
  readonly attempt: Attempt
}

export interface LineQuery {
  readonly endpoint?: string | undefined
  readonly outcome?: AttemptOutcome | undefined
  readonly event?: string | undefined
  /** Of one event, by its place in EVENTS. */
  readonly eventSequence?: number | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** Lines before this place; without one, from the end. */
export interface From {
  readonly sequence: number
  readonly index: number
}

export interface LinePage {
  readonly lines: ReadonlyArray<Line>
  /** The place to go on from; undefined when there is nothing older. */
  readonly next: From | undefined
}

/** The lines of one message, the first one first; none of a message that cannot be read. */
export const linesOf = (message: SourceMessage): ReadonlyArray<Line> =>
  Result.match(attemptBatchCodec.decode(message), {
    onFailure: () => [],
    onSuccess: (attempts) => attempts.map((attempt, index) => ({ sequence: message.sequence, index, attempt }))
  })

export const subjectOf = ({ endpoint, outcome }: LineQuery) =>
  subjects.attempts(endpoint === undefined ? "*" : endpointIdOf(endpoint), outcome ?? "*")

/** Whether a line is within a query's event and times, which no subject tells. Pure. */
export const isWanted = ({ event, eventSequence, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY }: LineQuery) => {
  const wants = event === undefined ? () => true : compileFilter([event])
  return ({ attempt }: Line) => {
    if (eventSequence !== undefined && attempt.sequence !== eventSequence) return false
    const startedAtMs = Date.parse(attempt.startedAt)
    return startedAtMs >= sinceMs && startedAtMs <= untilMs && wants(attempt.event)
  }
}

// At full rate a message holds ten lines and more: the first few are a page already.
const messagesAtFirst = 8
const messagesAtOnceMax = 64
/** A page looks at no more than this; a rare event takes several pages. */
const messagesExaminedMax = 256

// A line is written when its attempt ended, and that may be minutes after it started.
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

/** The line at a place, if there is one. */
export const lineAt = Effect.fn("lineAt")(function* ({ sequence, index }: From) {
  const found = yield* (yield* StreamReader).next("ATTEMPTS", sequence)
  return Option.flatMap(found, (message) =>
    message.sequence === sequence ? Option.fromNullishOr(linesOf(message)[index]) : Option.none()
  )
})
