/**
 * Events by request, `publish.<name>`, one queue group over all replicas: each is answered with its place in EVENTS, or
 * with all that is wrong with it. The broker adds the sender's name to the subject.
 */
import { Clock, Effect, Result } from "effect"
import { header, jsonCodec, type MessageCodec, Rejections, Requests } from "#bus"
import { type Fault, publishedName, subjects } from "#base"
import { openEvent, type OpenedEvent } from "#events"
import { PublishAnswer } from "#events/contract"
import { type ArrivedEvent, EventIntake } from "./EventIntake.ts"

// One write each; the broker stores some thousands a second.
const atOnceMax = 256
const awayMs = 1_000

/** Answers while the scope is open. */
export const answerPublishing = Effect.gen(function* () {
  const intake = yield* EventIntake
  const { reportable } = yield* Rejections
  const refused = (faults: ReadonlyArray<Fault>) => PublishAnswer.cases.Refused.make({ faults: reportable(faults) })

  const publish = Effect.fnUntraced(function* ({ event, ...asked }: Asked) {
    if (Result.isFailure(event)) return refused(event.failure)
    const stored = yield* intake.publish([{ ...asked, event: event.success }])
    if (Result.isFailure(stored)) return refused(stored.failure.flat())
    const [place = { sequence: 0, duplicate: false }] = stored.success
    return PublishAnswer.cases.Stored.make(place)
  })
  yield* (yield* Requests).answer({
    subject: subjects.publishFromAll,
    queueGroup: "pipeline-api",
    question: askedCodec(yield* Clock.Clock, intake),
    answer: jsonCodec(PublishAnswer),
    concurrency: atOnceMax,
    handler: (asked) =>
      Effect.catch(publish(asked), ({ message }) =>
        Effect.succeed(PublishAnswer.cases.Unavailable.make({ detail: message, retryAfterMs: awayMs }))
      )
  })
})

interface Asked extends Omit<ArrivedEvent, "event"> {
  readonly event: Result.Result<OpenedEvent, ReadonlyArray<Fault>>
}

/** Nothing is refused on the way in: the answer has the faults of every event. */
const askedCodec = (clock: Clock.Clock, { readingAt }: EventIntake["Service"]): MessageCodec<Asked> => ({
  decode: (message) => {
    const { name, from = "" } = publishedName(message.subject ?? "") ?? {}
    const event = openEvent(message, readingAt(clock.currentTimeMillisUnsafe()))
    return Result.succeed({ owner: from, name, id: message.header(header.messageId), event })
  },
  // Only publishers outside the fleet ask.
  encode: () => ({ data: new Uint8Array(0), headers: [] })
})
