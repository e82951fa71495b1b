/**
 * The state of endpoints beyond their configuration, shared by all replicas and kept across restarts: who paused one
 * and why, and until when its breaker is open. It is read from a watched copy and changed by compare-and-set.
 */
import { Context, Effect, Layer, Option, Schedule, Stream } from "effect"
import { isoTime } from "#base"
import { EndpointState } from "#webhooks/contract"
import { type BusError, Kv, records, replaced } from "#bus"

export interface Pause {
  readonly by: string
  readonly reason: string
}

const bucketName = "endpoints"

export class EndpointStates extends Context.Service<
  EndpointStates,
  {
    /** Reads the watched copy: at most milliseconds old, and never waits. */
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
      const states = records(bucket)
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
        Effect.map(
          states.change(endpointId, (before, { nowMs }) => replaced(next(before ?? fresh(name), isoTime(nowMs)))),
          ({ answer }) => void copy.set(endpointId, answer)
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

const fresh = (name: string): EndpointState => ({ name, paused: null, breakerOpenUntilMs: null })
