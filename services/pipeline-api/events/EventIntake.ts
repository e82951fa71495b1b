/** Takes in events of publishers outside the fleet: judges each, and stores the good ones in EVENTS, in their order. */
import { Context, Effect, Layer, Result } from "effect"
import { type BusError, envelopeBytesMax, isTooLarge, Publisher } from "#bus"
import { encodeToken, type Fault, subjects } from "#base"
import { EventTypes, judgeEvent, type OpenedEvent } from "#events"
import type { ReadOptions } from "#events/cloudevents"
import type { StoredEventPlace } from "#events/contract"

/** An event as it arrived. */
export interface ArrivedEvent {
  /** A user of the broker, or `token:` and a label. */
  readonly owner: string
  readonly event: OpenedEvent
  /** The name that it must have; undefined where the way in says none. */
  readonly name?: string | undefined
  /** The publisher's own id of it: within two minutes the same id is stored once. */
  readonly id?: string | undefined
}

type Faults = ReadonlyArray<Fault>

export class EventIntake extends Context.Service<
  EventIntake,
  {
    /** How a message that is received now is read. */
    readonly readingAt: (nowMs: number) => ReadOptions
    /** Stores all of them, or none if any is refused: then `faults` has those of each, empty for a good one. */
    readonly publish: (
      events: ReadonlyArray<ArrivedEvent>
    ) => Effect.Effect<Result.Result<ReadonlyArray<StoredEventPlace>, ReadonlyArray<Faults>>, BusError>
  }
>()("starling/pipeline-api/EventIntake") {
  static readonly layer = Layer.effect(
    EventIntake,
    Effect.gen(function* () {
      const types = yield* EventTypes
      const publisher = yield* Publisher

      /** The types that this process knows may be a moment old, so it asks before it refuses. */
      const judge = Effect.fnUntraced(function* (events: ReadonlyArray<ArrivedEvent>) {
        const first = events.map((event) => judged(event, types))
        if (first.every((faults) => faults.length === 0)) return first
        yield* types.catchUp
        return events.map((event) => judged(event, types))
      })

      const store = ({ owner, event, id }: ArrivedEvent) => {
        const { event: name } = event.envelope as { readonly event: string }
        const options = id === undefined ? {} : { messageId: `${owner} ${id}` }
        return publisher.publishRaw(subjects.eventFrom(encodeToken(owner), name), event.body, options)
      }

      const publish = Effect.fn("EventIntake.publish")(function* (events: ReadonlyArray<ArrivedEvent>) {
        const faults = yield* judge(events)
        if (faults.some((each) => each.length > 0)) return Result.fail(faults)
        const stored = yield* Effect.forEach(events, store)
        return Result.succeed(stored.map(({ sequence, duplicate }) => ({ sequence, duplicate })))
      })
      return EventIntake.of({
        readingAt: (nowMs) => ({
          receivedAtMs: nowMs,
          schemaVersionOf: (name) => types.at(name, Infinity)?.schemaVersion
        }),
        publish: (events) =>
          Effect.catchIf(publish(events), isTooLarge, () => Effect.succeed(Result.fail(events.map(() => [tooLarge]))))
      })
    })
  )
}

const tooLarge: Fault = { path: "", message: `an event has at most ${envelopeBytesMax} bytes, with its headers` }

const judged = ({ owner, event, name }: ArrivedEvent, types: EventTypes["Service"]): Faults => {
  if (event.body.length > envelopeBytesMax) return [tooLarge]
  const from = encodeToken(owner)
  const found = judgeEvent({ envelope: event.envelope, from, sequence: Infinity }, types)
  if (Result.isFailure(found)) return found.failure
  const { event: own } = found.success.envelope
  return name === undefined || own === name ? [] : [{ path: "/event", message: `${own} was published as ${name}` }]
}
