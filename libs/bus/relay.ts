/**
 * Reads one stream in order and writes what follows from it to another: every step is tied to the new
 * cursor, on the condition that the cursor is still the one we read. Two relays may run at once; the slower
 * one loses the condition, reads the cursor again and goes on. A killed broker or a killed relay loses
 * nothing; at worst it repeats the few messages of one small step, with the same ids.
 *
 * `translate` turns a run of source messages into steps; a step is written whole or not at all. Between
 * runs `aside` may offer steps of its own on the same cursor (catching up, a changed configuration).
 */
import { Effect, Option, Queue, Result, Schedule, type Scope } from "effect"
import { type HealthLoop, Metrics } from "#runtime"
import type { BatchMessage } from "./atomic-batch.ts"
import { type BusError, BusRefused } from "./errors.ts"
import { relayConflicts, relayPosition, relayRunSize } from "./metrics.ts"
import { Nats } from "./Nats.ts"
import { readInOrder, type SourceMessage } from "./read-in-order.ts"
import { type CursorPlace, finishPending, type RelayStep, writeStep } from "./relay-step.ts"

export type { SourceMessage } from "./read-in-order.ts"

export type { RelayStep } from "./relay-step.ts"

export interface RelayOptions<Cursor, E, R> {
  /** Names the relay in metrics and logs. */
  readonly name: string
  readonly source: string
  readonly target: string
  /** Where in the target stream the cursor is. */
  readonly place: CursorPlace<Cursor>
  /** The cursor of a relay that never ran, given the source's last sequence. */
  readonly begin: (lastSequence: number) => Cursor
  /** Source sequence up to which `cursor` has everything. */
  readonly position: (cursor: Cursor) => number
  readonly translate: (
    run: ReadonlyArray<SourceMessage>,
    cursor: Cursor
  ) => Effect.Effect<ReadonlyArray<RelayStep<Cursor>>, E, R>
  readonly aside: (cursor: Cursor) => Effect.Effect<ReadonlyArray<RelayStep<Cursor>>, E, R>
  /** Called with every cursor known to be stored, and what was written with it. */
  readonly onCursor: (cursor: Cursor, written: ReadonlyArray<BatchMessage>) => Effect.Effect<void, never, R>
  /** Runs each time the relay has taken the cursor up and is about to read on. */
  readonly onStarted: Effect.Effect<void, never, R>
  readonly loop: HealthLoop
}

// Batches of 64 to 256 carry the most per second; a longer run would only delay its first message.
const runMessagesMax = 256
const queueCapacity = 1_024
// How often `aside` is asked when the source is quiet.
const quietMs = 250
const tick = Symbol("tick")

/** Runs until interrupted or failed; failed, it is meant to be started again. */
export const relay = <Cursor, E, R>(options: RelayOptions<Cursor, E, R>) =>
  Effect.scoped(relayOnce(options)).pipe(
    Effect.catchTag("RevisionConflict", () =>
      Effect.logDebug("a twin relay was faster, reading on").pipe(Effect.annotateLogs({ relay: options.name }))
    ),
    Effect.forever
  )

const relayOnce = Effect.fnUntraced(function* <Cursor, E, R>(
  options: RelayOptions<Cursor, E, R>
): Effect.fn.Return<never, BusError | E, R | Nats | Metrics | Scope.Scope> {
  const nats = yield* Nats
  const metrics = yield* Metrics
  const runSize = metrics.histogram(relayRunSize)
  const conflicts = metrics.counter(relayConflicts)
  const position = metrics.gauge(relayPosition)
  let held = yield* loadCursor(nats, options)
  yield* options.onCursor(held.cursor, [])
  const source = yield* readInOrder<typeof tick>(nats, options.source, options.position(held.cursor) + 1, queueCapacity)

  const write = Effect.fnUntraced(function* (steps: ReadonlyArray<RelayStep<Cursor>>) {
    for (const step of steps) {
      const sequence = yield* writeStep(nats, options.place, step, held.sequence).pipe(
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (error._tag === "RevisionConflict") conflicts.inc({ relay: options.name })
          })
        )
      )
      held = { cursor: step.cursor, sequence }
      yield* options.onCursor(step.cursor, step.messages)
    }
    position.set({ relay: options.name }, options.position(held.cursor))
  })

  // Taking is never interrupted, for what was taken would be lost: a quiet source is woken by a tick.
  const wake = Effect.sync(() => Queue.sizeUnsafe(source) === 0 && Queue.offerUnsafe(source, tick))
  yield* Effect.forkScoped(Effect.repeat(wake, Schedule.spaced(quietMs)))
  yield* write(yield* options.aside(held.cursor))
  yield* options.onStarted

  while (true) {
    options.loop.beat()
    const taken = yield* Queue.takeBetween(source, 1, runMessagesMax)
    const run = taken.filter((message) => message !== tick)
    if (run.length > 0) {
      runSize.observe({ relay: options.name }, run.length)
      yield* write(yield* options.translate(run, held.cursor))
    }
    yield* write(yield* options.aside(held.cursor))
  }
})

const loadCursor = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  options: RelayOptions<Cursor, E, R>
) {
  const stored = yield* nats.last(options.target, options.place.subject)
  if (Option.isNone(stored)) {
    const info = yield* nats.use(`read ${options.source}`, ({ manager }) => manager.streams.info(options.source))
    return { cursor: options.begin(info.state.last_seq), sequence: 0 }
  }
  const decoded = options.place.codec.decode(stored.value)
  if (Result.isFailure(decoded)) {
    const detail = `the stored cursor is broken: ${JSON.stringify(decoded.failure)}`
    return yield* new BusRefused({ operation: `read the cursor of ${options.name}`, detail, code: 0 })
  }
  yield* finishPending(nats, decoded.success)
  return { cursor: decoded.success.cursor, sequence: stored.value.sequence }
})
