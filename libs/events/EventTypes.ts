/**
 * The event types in force: those of the configuration, which win by name, and those declared at run time, which follow
 * their bucket.
 */
import { Context, Effect, Layer, Option, Result, Schedule, Stream } from "effect"
import { type BusError, BusUnavailable, Kv, type KvBucket, type KvChange, type KvEntry, StreamReader } from "#bus"
import { decodeEventType, EventTypeRecord, type Events } from "#events/contract"
import { InvalidConfiguration } from "#runtime"
import { type EventType, readEventType } from "./event-types.ts"
import type { DeclaredTypes } from "./judgement.ts"

export class EventTypes extends Context.Service<
  EventTypes,
  DeclaredTypes & {
    /** The types in force, by name. */
    readonly all: () => ReadonlyArray<EventType>
    /** Completes when every declaration stored by now is in force here. */
    readonly catchUp: Effect.Effect<void, BusError>
  }
>()("starling/events/EventTypes") {
  /** Fails with every fault of the configured types. */
  static readonly layer = (settings: Events) =>
    Layer.effect(
      EventTypes,
      Effect.gen(function* () {
        const configured = yield* configuredTypes(settings)
        const store = yield* openEventTypeStore
        const declared = declaredCopy()
        yield* load(store, declared)
        yield* Effect.forkScoped(follow(store, declared))
        return EventTypes.of({
          at: (name, sequence) => configured.get(name) ?? declared.at(name, sequence),
          all: () =>
            [
              ...new Map([...declared.all().map((type) => [type.name, type] as const), ...configured]).values()
            ].toSorted(byName),
          takesUndeclared: settings.Undeclared === "deliver",
          catchUp: catchUpOf(store, declared)
        })
      })
    )
}

const byName = (left: EventType, right: EventType) => (left.name < right.name ? -1 : 1)

/** The types of the configuration, by name. */
export const configuredTypes = Effect.fnUntraced(function* ({ Types }: Pick<Events, "Types">) {
  const read = Types.map(readEventType)
  const faults = read.flatMap((type, index) =>
    Result.isSuccess(type)
      ? []
      : type.failure.map(({ path, message }) => ({ path: `Events.Types[${index}]${path}`, message }))
  )
  if (faults.length > 0) return yield* new InvalidConfiguration({ faults })
  return new Map(read.flatMap((type) => (Result.isSuccess(type) ? [[type.success.name, type.success] as const] : [])))
})

const bucketName = "event-types"

export interface EventTypeStore {
  readonly bucket: KvBucket<EventTypeRecord>
  /** The revision of the newest change, from the bucket's leader. */
  readonly lastRevision: Effect.Effect<number, BusError>
}

export const openEventTypeStore = Effect.gen(function* () {
  const bucket = yield* (yield* Kv).open(bucketName, EventTypeRecord)
  const { last } = yield* StreamReader
  const store: EventTypeStore = {
    bucket,
    lastRevision: Effect.map(
      last(`KV_${bucketName}`, `$KV.${bucketName}.>`),
      Option.match({ onNone: () => 0, onSome: ({ sequence }) => sequence })
    )
  }
  return store
})

interface Tenure {
  readonly startsAfter: number
  readonly type: EventType
}

interface DeclaredCopy {
  readonly at: DeclaredTypes["at"]
  readonly all: () => ReadonlyArray<EventType>
  readonly revision: () => number
  readonly apply: (changes: ReadonlyArray<KvChange<EventTypeRecord>>) => Effect.Effect<void>
}

/** What the bucket holds, in memory: each type's tenures, the latest first. */
const declaredCopy = (): DeclaredCopy => {
  const tenures = new Map<string, ReadonlyArray<Tenure>>()
  let revision = 0
  const apply = Effect.fnUntraced(function* (changes: ReadonlyArray<KvChange<EventTypeRecord>>) {
    for (const { key, entry, revision: changed } of changes) {
      revision = Math.max(revision, changed)
      if (Option.isNone(entry)) tenures.delete(key)
      else tenures.set(key, yield* tenuresOf(entry.value.value))
    }
  })
  return {
    at: (name, sequence) => tenures.get(name)?.find(({ startsAfter }) => startsAfter < sequence)?.type,
    all: () => [...tenures.values()].flatMap(([latest]) => (latest === undefined ? [] : [latest.type])),
    revision: () => revision,
    apply
  }
}

/** A tenure that cannot be read, as one of a later release, judges nothing: its events count as undeclared. */
const tenuresOf = Effect.fnUntraced(function* ({ name, startsAfter, settings, past }: EventTypeRecord) {
  const read: Array<Tenure> = []
  for (const tenure of [{ startsAfter, settings }, ...past]) {
    const type = Result.flatMap(decodeEventType(tenure.settings), readEventType)
    if (Result.isSuccess(type)) read.push({ startsAfter: tenure.startsAfter, type: type.success })
    else {
      yield* Effect.logWarning("an event type cannot be read: its events count as undeclared").pipe(
        Effect.annotateLogs({ type: name, startsAfter: tenure.startsAfter, faults: type.failure })
      )
    }
  }
  return read
})

const load = Effect.fnUntraced(function* ({ bucket }: EventTypeStore, declared: DeclaredCopy) {
  const entries = yield* Stream.runCollect(bucket.scan(">"))
  yield* declared.apply(entries.map((entry) => ({ ...entry, entry: Option.some<KvEntry<EventTypeRecord>>(entry) })))
})

// Declarations are rare; several at once are applied together.
const run = { messagesMax: 64, withinMs: 5 }
const followAgainEvery = "500 millis"

/** Runs forever. No record is ever removed, so what was missed comes by its revision. */
const follow = (store: EventTypeStore, declared: DeclaredCopy) =>
  Effect.suspend(() =>
    Stream.runForEach(store.bucket.changesInBatches(declared.revision() + 1, run), declared.apply)
  ).pipe(
    Effect.catch((error) => Effect.logDebug("event types are not followed", error)),
    Effect.andThen(Effect.sleep(followAgainEvery)),
    Effect.forever
  )

const catchUpMsMax = 5_000
const lookEvery = Schedule.spaced("5 millis")

const catchUpOf = ({ lastRevision }: EventTypeStore, declared: DeclaredCopy) =>
  Effect.gen(function* () {
    const wanted = yield* lastRevision
    if (declared.revision() >= wanted) return
    const looks = Effect.repeat(Effect.void, { schedule: lookEvery, until: () => declared.revision() >= wanted })
    yield* Effect.timeoutOrElse(looks, {
      duration: catchUpMsMax,
      orElse: () => new BusUnavailable({ operation: "follow the event types", detail: "changes come too late" })
    })
  })
