/**
 * `tail [pattern]`: shows events as they are published, or with --attempts what was sent and answered.
 * --last N shows that many earlier ones first; --json prints whole messages.
 */
import { Effect, Result, Stream } from "effect"
import { jsonCodec, StreamReader, type SourceMessage } from "#bus"
import { AttemptBatch, compileFilter, isoTime, subjects } from "#contracts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { readParameters } from "./parameters.ts"

export const tail = (parameters: ReadonlyArray<string>) => runCommand(tailCommand(parameters))

const tailCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      last: { type: "string", default: "0" },
      json: { type: "boolean" },
      attempts: { type: "boolean" },
      nats: { type: "string" }
    }
  })
  const last = Number(values.last)
  if (!Number.isInteger(last) || last < 0) return yield* new CommandRefused({ reason: "--last is a whole number" })
  const stream = values.attempts === true ? "ATTEMPTS" : "EVENTS"
  const wants = compileFilter(positionals.length === 0 ? ["*"] : positionals)
  const show = values.attempts === true ? showAttempts(wants) : showEvent(wants, values.json === true)
  const follow = Effect.gen(function* () {
    const reader = yield* StreamReader
    const { firstSequence, lastSequence } = yield* reader.bounds(stream)
    const from = Math.max(firstSequence, lastSequence + 1 - last)
    yield* Stream.runForEach(reader.follow(stream, from), (message) => Effect.forEach(show(message), print))
  })
  yield* follow.pipe(Effect.provide(busOf(values.nats)))
})

const utf8 = new TextDecoder()

const showEvent = (wants: (event: string) => boolean, asJson: boolean) => (message: SourceMessage) => {
  const event = message.subject.slice("events.".length)
  if (message.subject === subjects.eventsCursor || !wants(event)) return []
  if (asJson) return [utf8.decode(message.data)]
  return [`${isoTime(message.storedAtMs)} ${message.sequence} ${event} ${message.data.length} bytes`]
}

const attemptBatch = jsonCodec(AttemptBatch)

const showAttempts = (wants: (event: string) => boolean) => (message: SourceMessage) => {
  const decoded = attemptBatch.decode(message)
  if (Result.isFailure(decoded)) return []
  return decoded.success
    .filter((attempt) => wants(attempt.event))
    .map((attempt) => {
      const answer = attempt.status ?? attempt.error
      const next = attempt.nextAttemptAt === null ? "" : ` next ${attempt.nextAttemptAt}`
      return `${attempt.startedAt} ${attempt.endpoint} ${attempt.event} attempt ${attempt.attempt} ${attempt.outcome} ${answer} ${attempt.durationMs} ms${next}`
    })
}
