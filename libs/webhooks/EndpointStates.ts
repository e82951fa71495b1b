/**
 * The state of endpoints beyond the configuration, shared by all replicas and kept over restarts: who paused one and
 * why, and until when its breaker is open. It is read from a watched copy and changed by compare-and-set.
 */
import { Clock, Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { isoTime, EndpointState } from "#contracts"
import { type BusError, Kv, type KvBucket, RevisionConflict } from "#bus"

export interface Pause {
  readonly by: string
  readonly reason: string
}

const bucketName = "endpoints"
// A handful of replicas and operators at most write one key at a time.
const conflictRetriesMax = 10

export class EndpointStates extends Context.Service<
  EndpointStates,
  {
    /** Reads the watched copy: fresh within milliseconds, never waits. */
    readonly get: (endpointId: string) => EndpointState | undefined
    readonly isPaused: (endpointId: string) => boolean
    readonly pause: (endpointId: string, name: string, pause: Pause) => Effect.Effect<void, BusError>
    readonly resume: (endpointId: string, name: string) => Effect.Effect<void, BusError>
    /** Null closes the breaker for every replica. */
    readonly breakerOpen: (endpointId: string, name: string, untilMs: number | null) => Effect.Effect<void, BusError>
    /** The ids of changed states, as they change. */
    readonly changes: Stream.Stream<string>
  }
>()("starling/webhooks/EndpointStates") {
  static readonly layer = Layer.effect(
    EndpointStates,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open(bucketName, EndpointState)
      const copy = new Map<string, EndpointState>()
      for (const entry of yield* bucket.entries) copy.set(entry.key, entry.value)

      const watched = bucket.changes.pipe(
        Stream.retry(Schedule.spaced("500 millis")),
        Stream.orDie,
        Stream.tap(({ key, entry }) =>
          Effect.sync(() => (Option.isSome(entry) ? copy.set(key, entry.value.value) : copy.delete(key)))
        ),
        Stream.map(({ key }) => key)
      )
      const changes = yield* Stream.share(watched, { capacity: 1_024, strategy: "sliding" })
      yield* Stream.runDrain(changes).pipe(Effect.forkScoped)

      const change = (endpointId: string, name: string, next: (state: EndpointState, at: string) => EndpointState) =>
        changeState(bucket, { endpointId, name, next }).pipe(
          Effect.tap((state) => Effect.sync(() => copy.set(endpointId, state))),
          Effect.asVoid
        )
      return EndpointStates.of({
        get: (endpointId) => copy.get(endpointId),
        isPaused: (endpointId) => copy.get(endpointId)?.paused != null,
        pause: (id, name, { by, reason }) =>
          change(id, name, (state, at) => ({ ...state, paused: { at, by, reason } })),
        resume: (id, name) => change(id, name, (state) => ({ ...state, paused: null, breakerOpenUntilMs: null })),
        breakerOpen: (id, name, untilMs) => change(id, name, (state) => ({ ...state, breakerOpenUntilMs: untilMs })),
        changes
      })
    })
  )
}

interface StateChange {
  readonly endpointId: string
  readonly name: string
  readonly next: (state: EndpointState, at: string) => EndpointState
}

const changeState = Effect.fnUntraced(
  function* (bucket: KvBucket<EndpointState>, { endpointId, name, next }: StateChange) {
    const at = isoTime(yield* Clock.currentTimeMillis)
    const entry = yield* bucket.get(endpointId)
    const before = Option.match(entry, { onNone: () => fresh(name), onSome: ({ value }) => value })
    const after = next(before, at)
    if (Option.isNone(entry)) yield* bucket.create(endpointId, after)
    else yield* bucket.update(endpointId, after, entry.value.revision)
    return after
  },
  Effect.retry({ times: conflictRetriesMax, while: (error) => error instanceof RevisionConflict })
)

const fresh = (name: string): EndpointState => ({ name, paused: null, breakerOpenUntilMs: null })
