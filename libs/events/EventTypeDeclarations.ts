/**
 * Event types declared at run time, for whom changes them. Each change is one compare-and-set and can be asked for
 * again; it holds for the events after it. Types of the configuration are not here: they are read-only, and win by name.
 */
import { Clock, Context, Effect, Layer, Option, Result, Stream } from "effect"
import { type BusError, type Records, records, StreamReader } from "#bus"
import { isoTime } from "#base"
import { type EventTypeRecord, type Events, eventTypesMax } from "#events/contract"
import { decideChange, type Decided, decideDeclaration, type TypeChange } from "./changes.ts"
import {
  type EventTypeExists,
  EventTypeIsConfigured,
  type EventTypeWasChanged,
  type InvalidEventType,
  NoSuchEventType,
  TooManyEventTypes
} from "./errors.ts"
import { openEventTypeStore } from "./EventTypes.ts"

export class EventTypeDeclarations extends Context.Service<
  EventTypeDeclarations,
  {
    /** By name. */
    readonly list: Effect.Effect<ReadonlyArray<EventTypeRecord>, BusError>
    readonly get: (name: string) => Effect.Effect<EventTypeRecord, BusError | NoSuchEventType>
    readonly declare: (
      given: unknown,
      by: string
    ) => Effect.Effect<
      EventTypeRecord,
      BusError | InvalidEventType | EventTypeExists | EventTypeIsConfigured | TooManyEventTypes
    >
    readonly change: (
      name: string,
      change: TypeChange,
      by: string
    ) => Effect.Effect<EventTypeRecord, BusError | ChangeFailure>
  }
>()("starling/events/EventTypeDeclarations") {
  static readonly layer = ({ Types }: Pick<Events, "Types">) =>
    Layer.effect(
      EventTypeDeclarations,
      Effect.gen(function* () {
        const { bucket } = yield* openEventTypeStore
        const reader = yield* StreamReader
        const configured = new Set(Types.map(({ Name }) => Name))
        const deps: Dependencies = { types: records(bucket), reader, configured }
        return EventTypeDeclarations.of({
          list: Effect.map(Stream.runCollect(bucket.scan(">")), (entries) =>
            entries.map(({ value }) => value).toSorted((left, right) => (left.name < right.name ? -1 : 1))
          ),
          get: (name) =>
            Effect.flatMap(bucket.get(name), (entry) =>
              Option.isSome(entry) ? Effect.succeed(entry.value.value) : new NoSuchEventType({ name })
            ),
          declare: (given, by) => declare(deps, given, by),
          change: (name, change, by) => changeType(deps, { name, change, by })
        })
      })
    )
}

interface Dependencies {
  readonly types: Records<EventTypeRecord>
  readonly reader: StreamReader["Service"]
  readonly configured: ReadonlySet<string>
}

/** What a decision needs to know: the last step before its write, so that what is published after its answer follows it. */
const contextOf = Effect.fnUntraced(function* ({ reader }: Dependencies, by: string) {
  const { firstSequence, lastSequence } = yield* reader.bounds("EVENTS")
  return {
    act: { at: isoTime(yield* Clock.currentTimeMillis), by },
    firstEvent: firstSequence,
    lastEvent: lastSequence
  }
})

const declare = Effect.fn("EventTypeDeclarations.declare")(function* (deps: Dependencies, given: unknown, by: string) {
  const context = yield* contextOf(deps, by)
  const { record } = yield* Effect.fromResult(decideDeclaration(undefined, given, context))
  const { name } = record
  if (deps.configured.has(name)) return yield* new EventTypeIsConfigured({ name })
  const { messages } = yield* deps.reader.bounds("KV_event-types")
  if (messages >= eventTypesMax) return yield* new TooManyEventTypes({ typesMax: eventTypesMax })
  return yield* stored(deps, name, (before) => decideDeclaration(before, given, context))
})

type ChangeFailure = InvalidEventType | NoSuchEventType | EventTypeWasChanged

interface Changing {
  readonly name: string
  readonly change: TypeChange
  readonly by: string
}

const changeType = Effect.fn("EventTypeDeclarations.change")(function* (
  deps: Dependencies,
  { name, change, by }: Changing
) {
  const context = yield* contextOf(deps, by)
  return yield* stored(deps, name, (before): Result.Result<Decided, ChangeFailure> =>
    before === undefined ? Result.fail(new NoSuchEventType({ name })) : decideChange(before, change, context)
  )
})

type Deciding<E> = (before: EventTypeRecord | undefined) => Result.Result<Decided, E>

const stored = Effect.fnUntraced(function* <E>({ types }: Dependencies, name: string, decide: Deciding<E>) {
  const { answer } = yield* types.change(name, (before) =>
    Result.map(decide(before), ({ record, isSame }) => (isSame ? { answer: record } : { answer: record, next: record }))
  )
  return answer
})
