/**
 * `tail [pattern...]`: shows events as they are published, or with --attempts what was sent and answered, until it is
 * stopped. --last N shows the last N there are, and ends; with --follow it goes on from there. --json prints each event
 * or attempt whole, as one line of JSON.
 */
import { Effect, Result, Stream } from "effect"
import { jsonCodec, StreamReader, type SourceMessage } from "#bus"
import { type Attempt, AttemptBatch, compileFilter, isoTime, subjects } from "#contracts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { checkEventNames } from "./event-names.ts"
import { lastOf } from "./last-of.ts"
import { readParameters } from "./parameters.ts"

export const tail = (parameters: ReadonlyArray<string>) => runCommand(tailCommand(parameters))

// They are held until the last of them is known.
const lastMax = 10_000

export interface TailOrder {
  readonly patterns: ReadonlyArray<string>
  readonly isAttempts: boolean
  readonly isJson: boolean
  /** Undefined: none that were there before. */
  readonly last: number | undefined
  readonly isFollowing: boolean
}

const tailCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      last: { type: "string" },
      follow: { type: "boolean", short: "f", default: false },
      json: { type: "boolean", default: false },
      attempts: { type: "boolean", default: false },
      nats: { type: "string" }
    }
  })
  const last = values.last === undefined ? undefined : yield* readLast(values.last)
  const order: TailOrder = {
    patterns: positionals,
    isAttempts: values.attempts,
    isJson: values.json,
    last,
    isFollowing: values.follow || last === undefined
  }
  yield* Stream.runForEach(tailed(order), print).pipe(Effect.provide(busOf(values.nats)))
})

const readLast = Effect.fnUntraced(function* (text: string) {
  const last = Number(text)
  if (Number.isInteger(last) && last >= 1 && last <= lastMax) return last
  return yield* new CommandRefused({ reason: `--last is a whole number from 1 to ${lastMax}` })
})

/** The lines that are to be printed. */
export const tailed = (order: TailOrder) =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* checkEventNames(order.patterns)
      const reader = yield* StreamReader
      const stream = order.isAttempts ? "ATTEMPTS" : "EVENTS"
      const wants = compileFilter(order.patterns.length === 0 ? ["*"] : order.patterns)
      const show = order.isAttempts ? showAttempts(wants, order.isJson) : showEvent(wants, order.isJson)
      const bounds = yield* reader.bounds(stream)
      const earlier = order.last === undefined ? [] : yield* lastOf(stream, bounds, order.last, show)
      if (!order.isFollowing) return Stream.fromIterable(earlier)
      const coming = reader
        .follow(stream, bounds.lastSequence + 1)
        .pipe(Stream.flatMap((message) => Stream.fromIterable(show(message))))
      return Stream.concat(Stream.fromIterable(earlier), coming)
    })
  )

const utf8 = new TextDecoder()

const showEvent = (wants: (event: string) => boolean, isJson: boolean) => (message: SourceMessage) => {
  const event = message.subject.slice("events.".length)
  if (message.subject === subjects.eventsCursor || !wants(event)) return []
  // A publisher may have written it over several lines; within JSON a line's end is only space.
  if (isJson) return [utf8.decode(message.data).replaceAll(/[\r\n]+/gu, " ")]
  return [`${isoTime(message.storedAtMs)} ${message.sequence} ${event} ${message.data.length} bytes`]
}

const attemptBatch = jsonCodec(AttemptBatch)

const showAttempts = (wants: (event: string) => boolean, isJson: boolean) => (message: SourceMessage) => {
  const decoded = attemptBatch.decode(message)
  if (Result.isFailure(decoded)) return []
  return decoded.success
    .filter((attempt) => wants(attempt.event))
    .map((attempt) => (isJson ? JSON.stringify(attempt) : attemptLine(attempt)))
}

const attemptLine = (attempt: Attempt) => {
  const answer = attempt.status ?? attempt.error
  const next = attempt.nextAttemptAt === null ? "" : ` next ${attempt.nextAttemptAt}`
  return `${attempt.startedAt} ${attempt.endpoint} ${attempt.event} attempt ${attempt.attempt} ${attempt.outcome} ${answer} ${attempt.durationMs} ms${next}`
}
