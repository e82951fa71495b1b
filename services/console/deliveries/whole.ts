/**
 * One delivery whole. Its attempts may lie days apart in the log, among millions: each line says when the attempt
 * before it ended and when the next one is due, so each is found by its time.
 */
import { Clock, Effect, Option, Stream } from "effect"
import { StreamReader } from "#bus"
import { endpointIdOf, subjects } from "#contracts"
import { type From, type Line, lineAt, linesOf } from "./lines.ts"

export interface Found {
  /** The first attempt first. */
  readonly lines: ReadonlyArray<Line>
  /** Whether no attempt up to the last one is missing, nor one that is overdue. */
  readonly isComplete: boolean
}

// The clocks of dispatchers and brokers differ, and a line is written within milliseconds of its attempt's end.
const clockDifferenceMs = 2_000
/** Around a known time; at 500 attempts a second to one endpoint these are over a minute. */
const messagesLookedAtMax = 1_024
// The longest schedules have fewer.
const attemptsMax = 100

/** None when no line of the delivery is found. Without a place the newest lines are searched. */
export const wholeDelivery = Effect.fn("wholeDelivery")(function* (deliveryId: string, near: From | undefined) {
  const known = yield* near === undefined ? searchNewest(deliveryId) : lineAt(near)
  if (Option.isNone(known) || known.value.attempt.deliveryId !== deliveryId) return Option.none<Found>()
  const lines = [known.value]
  for (let first = known.value; first.attempt.previousEndedAt !== undefined && lines.length < attemptsMax;) {
    const earlier = yield* lineAfter(first, first.attempt.previousEndedAt, first.attempt.attempt - 1)
    if (Option.isNone(earlier)) break
    first = earlier.value
    lines.unshift(first)
  }
  for (let last = known.value; last.attempt.nextAttemptAt !== null && lines.length < attemptsMax;) {
    const later = yield* lineAfter(last, Date.parse(last.attempt.nextAttemptAt), last.attempt.attempt + 1)
    if (Option.isNone(later)) break
    last = later.value
    lines.push(last)
  }
  const nowMs = yield* Clock.currentTimeMillis
  return Option.some<Found>({ lines, isComplete: isComplete(lines, nowMs) })
})

/** Whether neither an attempt before the first line is missing, nor one that was due after the last. Pure. */
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

const searchNewest = Effect.fnUntraced(function* (deliveryId: string) {
  const reader = yield* StreamReader
  let before = Number.MAX_SAFE_INTEGER
  for (let examined = 0; examined < messagesLookedAtMax;) {
    const messages = yield* reader.newest("ATTEMPTS", { before, subject: subjects.attemptsAll, messagesMax: 256 })
    for (const message of messages) {
      const line = linesOf(message).findLast(({ attempt }) => attempt.deliveryId === deliveryId)
      if (line !== undefined) return Option.some(line)
      before = message.sequence
    }
    if (messages.length === 0) break
    examined += messages.length
  }
  return Option.none<Line>()
})
