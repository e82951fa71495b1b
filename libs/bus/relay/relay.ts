/**
 * A relay reads one stream in order and writes what follows from it to another. Every step is tied to the new cursor,
 * on the condition that the stored cursor is still the one that was read. Of several concurrent relays one works: the
 * others fail that condition, stand by, and take over when the cursor stops moving. A killed broker or relay loses
 * nothing; at worst the few messages of one small step are repeated, with the same ids.
 *
 * No source message stops a relay: a run that the broker refuses for its size is split in halves, until the refused
 * messages follow from one source message. Those are archived, and the relay continues after it.
 *
 * `translate` turns a run of source messages into steps; a step is written completely or not at all. Between runs
 * `aside` can offer steps of its own on the same cursor (catching up, a changed configuration).
 */
import { Clock, Effect, Exit, Option, Queue, Random, Schedule, type Scope } from "effect"
import { defineCounter, defineGauge, type HealthLoop, Metrics } from "#runtime"
import { Nats } from "../connection/connection.ts"
import { type BusError, isLostRace, isTooLarge, mayHoldTooLarge } from "../errors.ts"
import { readInOrder } from "../ordered-reader.ts"
import type { SourceMessage } from "../pages.ts"
import type { BatchMessage } from "../publish.ts"
import {
  type CursorPlace,
  finishPending,
  lastOfSource,
  olderCursor,
  type RefusedMessage,
  type RelayStep,
  storedCursor,
  writeCursor,
  writeStep
} from "./cursor.ts"

export const relayConflicts = defineCounter({
  name: "bus_relay_conflicts_total",
  help: "Relay writes lost to a twin that wrote the cursor first, by relay. Harmless: the loser stands by.",
  labels: ["relay"]
})

export const relayActive = defineGauge({
  name: "bus_relay_active",
  help: "1 where the relay reads and writes, 0 where it stands by for a twin in another process, by relay. On a quiet source it may be 1 in several.",
  labels: ["relay"]
})

export const relayPosition = defineGauge({
  name: "bus_relay_position",
  help: "Sequence of the source stream up to which the relay has written, in whichever process, by relay.",
  labels: ["relay"]
})

export const relayWaitingSince = defineGauge({
  name: "bus_relay_waiting_since_seconds",
  help: "When the relay took the oldest message of its source that it has not written yet, in epoch seconds, by relay; 0 when there is none. One that goes on being old is stuck.",
  labels: ["relay"]
})

export const relayBehindSince = defineGauge({
  name: "bus_relay_behind_since_seconds",
  help: "When the oldest message that the relay has taken from its source and not written yet was stored there, in epoch seconds, by relay; 0 when it has caught up. Its age is the relay's lag, whatever else is published.",
  labels: ["relay"]
})

/** The parts of a relay: its source, its target, and what follows from a run of messages. */
export interface RelayOptions<Cursor, E, R> {
  /** The relay's name in metrics and logs. */
  readonly name: string
  readonly source: string
  readonly target: string
  readonly place: CursorPlace<Cursor>
  /** The target stream's subject where the previous release keeps the cursor. */
  readonly before?: string
  /** The initial cursor of a relay that never ran, given the source's last sequence. */
  readonly begin: (lastSequence: number) => Cursor
  /** The source sequence up to which `cursor` covers everything. */
  readonly position: (cursor: Cursor) => number
  /** False for a cursor that a twin with another configuration has taken over, and that `aside` would change. */
  readonly isOurs: (cursor: Cursor) => boolean
  readonly translate: (
    run: ReadonlyArray<SourceMessage>,
    cursor: Cursor
  ) => Effect.Effect<ReadonlyArray<RelayStep<Cursor>>, E, R>
  /** The size limit of the next run, where it is not always `runMessagesMax`. */
  readonly nextRunMax?: () => number
  /** `messagesMax`: the most source messages that a step can cover. */
  readonly aside: (cursor: Cursor, messagesMax: number) => Effect.Effect<ReadonlyArray<RelayStep<Cursor>>, E, R>
  /**
   * Archives messages that the broker will never accept, as results of one source message. It can be called again for
   * the same ones. Fails for a message that must not be skipped.
   */
  readonly onRefused: (refused: ReadonlyArray<RefusedMessage>) => Effect.Effect<void, BusError, R>
  /** Called with every cursor known to be stored, and the messages this relay wrote with it: none when a twin did. */
  readonly onCursor: (cursor: Cursor, written: ReadonlyArray<BatchMessage>) => Effect.Effect<void, never, R>
  /** Runs each time the relay has read the cursor it resumes from: a twin may have held it meanwhile. */
  readonly onTaken?: Effect.Effect<void>
  /** Runs each time the relay has taken over the cursor and is about to continue reading. */
  readonly onStarted: Effect.Effect<void, never, R>
  readonly loop: HealthLoop
}

/** Batches of 64 to 256 have the best throughput; a longer run would only delay its first message. A power of two. */
export const runMessagesMax = 256
const queueCapacity = 1_024
// How often `aside` is called when the source is quiet.
const quietMs = 250
const tick = Symbol("tick")

// An unreachable broker must not delay the process's exit.
const handOverWithinMs = 1_000

/**
 * Runs until interrupted or failed; restart the same effect after a failure. It resumes from the last cursor that it
 * knows to have been stored, even if its target is lost: any other start would skip messages, or repeat all of them.
 */
export const relay = <Cursor, E, R>(
  options: RelayOptions<Cursor, E, R>
): Effect.Effect<never, BusError | E, R | Nats | Metrics> => {
  let known: Cursor | undefined
  return run({
    ...options,
    waits: nothingWaits(),
    begin: (lastSequence) => known ?? options.begin(lastSequence),
    onCursor: (cursor, written) =>
      Effect.suspend(() => {
        known = cursor
        return options.onCursor(cursor, written)
      })
  })
}

const run = Effect.fnUntraced(function* <Cursor, E, R>(
  options: RelayOptions<Cursor, E, R> & { readonly waits: Waits }
): Effect.fn.Return<never, BusError | E, R | Nats | Metrics> {
  const nats = yield* Nats
  const metrics = yield* Metrics
  const labels = { relay: options.name }
  const active = metrics.gauge(relayActive)
  const position = metrics.gauge(relayPosition)
  const waiting = waitingGauges(metrics, options.name, options.waits)
  let hasStarted = false
  const onStarted = Effect.andThen(
    Effect.sync(() => void (hasStarted = true)),
    options.onStarted
  )
  const onMoved = Effect.fnUntraced(function* (cursor: Cursor) {
    yield* options.onCursor(cursor, [])
    position.set(labels, options.position(cursor))
  })
  const standBy = Effect.gen(function* () {
    // A relay does not stand by before its first start: its own first write is what others wait for.
    if (!hasStarted) return
    yield* Effect.logDebug("another relay wrote first, standing by").pipe(Effect.annotateLogs(labels))
    active.set(labels, 0)
    waiting.none()
    yield* untilNeeded(nats, options, onMoved)
  })
  const work = Effect.suspend(() => {
    active.set(labels, 1)
    return Effect.scoped(relayOnce({ ...options, onStarted, waiting }))
  })
  return yield* work.pipe(
    Effect.catchIf(isLostRace, () => standBy),
    Effect.forever
  )
})

/**
 * The oldest message that is not written yet, or zeros: when it was taken, when it was stored, and up to which sequence
 * messages were taken with it. They outlive a failure: a relay that starts again and again at one message waits since
 * it first took it.
 */
interface Waits {
  through: number
  takenMs: number
  storedMs: number
}

const nothingWaits = (): Waits => ({ through: 0, takenMs: 0, storedMs: 0 })

const waitingGauges = (metrics: Metrics["Service"], relay: string, waits: Waits) => {
  const waiting = metrics.gauge(relayWaitingSince)
  const behind = metrics.gauge(relayBehindSince)
  const show = (now: Waits) => {
    Object.assign(waits, now)
    waiting.set({ relay }, now.takenMs / 1_000)
    behind.set({ relay }, now.storedMs / 1_000)
  }
  show(waits)
  return {
    taken: ({ storedAtMs }: SourceMessage, through: number, nowMs: number) =>
      show({ through, takenMs: waits.takenMs === 0 ? nowMs : waits.takenMs, storedMs: storedAtMs }),
    /** `isMore`: the next message has been read already, and was stored hardly later than the last one. */
    written: (position: number, isMore: boolean) => {
      // Right after a start the message is still to be read again.
      if (position >= waits.through) show({ ...nothingWaits(), storedMs: isMore ? waits.storedMs : 0 })
    },
    none: () => show(nothingWaits()),
    isAny: () => waits.takenMs !== 0
  }
}

interface Waiting {
  readonly waiting: ReturnType<typeof waitingGauges>
}

const relayOnce = Effect.fnUntraced(function* <Cursor, E, R>(
  options: RelayOptions<Cursor, E, R> & Waiting
): Effect.fn.Return<never, BusError | E, R | Nats | Metrics | Scope.Scope> {
  const nats = yield* Nats
  const metrics = yield* Metrics
  const conflicts = metrics.counter(relayConflicts)
  conflicts.begin({ relay: options.name })
  const position = metrics.gauge(relayPosition)
  const steps = yield* stepWriter(nats, options)
  const { held } = steps
  yield* options.onTaken ?? Effect.void
  yield* options.onCursor(held().cursor, [])
  yield* Effect.addFinalizer((exit) =>
    Exit.hasInterrupts(exit) ? Effect.suspend(() => handOver(nats, options, held())) : Effect.void
  )
  const source = yield* readInOrder<typeof tick>(nats, options.source, options.position(held().cursor) + 1, {
    capacity: queueCapacity
  })
  const giver = giverOf(options, {
    ...steps,
    write: (some, isAlone) =>
      steps.write(some, isAlone).pipe(
        Effect.tapError((error) => Effect.sync(() => isLostRace(error) && conflicts.inc({ relay: options.name }))),
        Effect.tap(() => Effect.sync(() => position.set({ relay: options.name }, options.position(held().cursor))))
      )
  })

  // Taking is never interrupted, because taken messages would be lost: a tick wakes a quiet source.
  const wake = Effect.sync(() => Queue.sizeUnsafe(source) === 0 && Queue.offerUnsafe(source, tick))
  yield* Effect.forkScoped(Effect.repeat(wake, Schedule.spaced(quietMs)))
  yield* Effect.forkScoped(Effect.repeat(unlessPassed(nats, options), Schedule.spaced(passedEveryMs)))
  yield* giver.relayAside
  yield* options.onStarted

  while (true) {
    options.loop.beat()
    const taken = yield* Queue.takeBetween(source, 1, options.nextRunMax?.() ?? runMessagesMax)
    const run = taken.filter((message) => message !== tick)
    const [first] = run
    if (first !== undefined) {
      options.waiting.taken(first, run.at(-1)?.sequence ?? first.sequence, yield* Clock.currentTimeMillis)
      yield* giver.give(run)
    }
    yield* giver.relayAside
    options.waiting.written(options.position(held().cursor), Queue.sizeUnsafe(source) > 0)
  }
})

const passedEveryMs = 2_000

/** A relay that stalls is not behind once a twin has passed what it waits at. */
const unlessPassed = <Cursor, E, R>(nats: Nats["Service"], options: RelayOptions<Cursor, E, R> & Waiting) =>
  Effect.gen(function* () {
    if (!options.waiting.isAny()) return
    const stored = yield* storedCursor(nats, options)
    if (Option.isSome(stored)) options.waiting.written(options.position(stored.value.record.cursor), false)
  }).pipe(Effect.ignore)

interface StoredCursor<Cursor> {
  readonly cursor: Cursor
  readonly sequence: number
}

export interface StepWriter<Cursor, R> {
  readonly held: () => StoredCursor<Cursor>
  /** `isAlone`: each step covers one source message, so its refused messages are archived. */
  readonly write: (steps: ReadonlyArray<RelayStep<Cursor>>, isAlone: boolean) => Effect.Effect<void, BusError, R>
}

/** Writes steps, continuing from the stored cursor. */
const stepWriter = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  options: RelayOptions<Cursor, E, R>
): Effect.fn.Return<StepWriter<Cursor, R>, BusError, R> {
  const { place, onRefused, onCursor } = options
  let held = yield* loadCursor(nats, options)

  const writeOne = Effect.fnUntraced(function* (step: RelayStep<Cursor>) {
    const { sequence, refused } = yield* writeStep(nats, place, step, held.sequence)
    // Before the cursor counts as held: until overwritten, it lists the messages archived here.
    if (refused.length > 0) yield* onRefused(refused)
    held = { cursor: step.cursor, sequence }
    if (refused.length === 0) return step.messages
    const left = new Set(refused.map(({ message }) => message))
    return step.messages.filter((message) => !left.has(message))
  })
  const writeAlone = (step: RelayStep<Cursor>) =>
    step.messages.length === 0
      ? writeOne(step)
      : Effect.catchIf(writeOne(step), isTooLarge, (refusal) =>
          Effect.andThen(
            onRefused(step.messages.map((message) => ({ message, refusal }))),
            writeOne({ messages: [], cursor: step.cursor })
          )
        )
  return {
    held: () => held,
    write: Effect.fnUntraced(function* (steps: ReadonlyArray<RelayStep<Cursor>>, isAlone: boolean) {
      for (const step of steps) {
        // A step that has begun is finished, which takes no longer than the broker's answer: otherwise this relay's
        // progress would be unknown.
        const stored = yield* Effect.uninterruptible(isAlone ? writeAlone(step) : writeOne(step))
        yield* onCursor(step.cursor, stored)
      }
    })
  }
})

type StepOptions<Cursor, E, R> = Pick<RelayOptions<Cursor, E, R>, "translate" | "aside" | "position" | "onTaken">

/** Writes a run, or what `aside` offers: what the broker refuses for its size in halves, down to one source message. */
export const giverOf = <Cursor, E, R>(
  { translate, aside, position, onTaken = Effect.void }: StepOptions<Cursor, E, R>,
  { held, write }: StepWriter<Cursor, R>
) => {
  const give = Effect.fnUntraced(function* (
    run: ReadonlyArray<SourceMessage>
  ): Effect.fn.Return<void, BusError | E, R> {
    const isAlone = run.length === 1
    const writing = write(yield* translate(run, held().cursor), isAlone)
    yield* isAlone
      ? writing
      : Effect.catchIf(writing, mayHoldTooLarge, () => Effect.forEach(halvesOf(run), giveRest, { discard: true }))
  })
  /** The part of a run that the cursor has not passed yet. */
  const giveRest = (run: ReadonlyArray<SourceMessage>) =>
    Effect.suspend(() => {
      const rest = run.filter(({ sequence }) => sequence > position(held().cursor))
      return rest.length === 0 ? Effect.void : give(rest)
    })
  const relayAside = Effect.fnUntraced(function* (messagesMax: number): Effect.fn.Return<void, BusError | E, R> {
    const isAlone = messagesMax === 1
    const writing = write(yield* aside(held().cursor, messagesMax), isAlone)
    yield* isAlone
      ? writing
      : Effect.catchIf(writing, mayHoldTooLarge, () => Effect.andThen(onTaken, relayAside(messagesMax / 2)))
  })
  return { give, relayAside: Effect.suspend(() => relayAside(runMessagesMax)) }
}

const halvesOf = <A>(all: ReadonlyArray<A>) => {
  const middle = Math.ceil(all.length / 2)
  return [all.slice(0, middle), all.slice(middle)]
}

const loadCursor = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  options: RelayOptions<Cursor, E, R>
): Effect.fn.Return<StoredCursor<Cursor>, BusError, R> {
  const own = yield* storedCursor(nats, options)
  const sequence = Option.match(own, { onNone: () => 0, onSome: (stored) => stored.sequence })
  const older = yield* olderCursor(nats, options, own)
  const further = Option.orElse(older, () => Option.map(own, ({ record }) => record))
  if (Option.isNone(further)) return { cursor: options.begin(yield* lastOfSource(nats, options)), sequence }
  const refused = yield* finishPending(nats, further.value)
  if (refused.length > 0) yield* options.onRefused(refused)
  return { cursor: further.value.cursor, sequence }
})

/** Tells standbys that they need not wait. Writes nothing when another write came in between. */
const handOver = <Cursor, E, R>(
  nats: Nats["Service"],
  { place }: RelayOptions<Cursor, E, R>,
  { cursor, sequence }: StoredCursor<Cursor>
) =>
  sequence === 0
    ? Effect.void
    : writeCursor(nats, place, { cursor, pending: [], handedOver: true }, sequence).pipe(
        Effect.interruptible,
        Effect.timeout(handOverWithinMs),
        Effect.ignore
      )

// Reads one message, and only if the cursor has not advanced again.
const lookEveryMs = 250

/**
 * The standby of a relay that lost a write to its twin, and the rule by which it takes over. The cursor is the twin's
 * only sign of life. A cursor that stops while source messages wait belongs to a dead or slow twin; one that stops for
 * lack of work is taken over after a while too. A wrong guess costs one lost write, because each write expects the
 * cursor it read. Checks the twin's progress a few times a second, and returns when this relay should take over.
 * `onMoved` gets every cursor that a twin has stored.
 */
const untilNeeded = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  options: RelayOptions<Cursor, E, R>,
  onMoved: (cursor: Cursor) => Effect.Effect<void, never, R>
): Effect.fn.Return<void, BusError, R> {
  const patience = patienceOf(yield* Random.next)
  let state: Standby | undefined
  while (true) {
    options.loop.beat()
    const stored = yield* storedCursor(nats, options)
    if (Option.isNone(stored)) return
    const { sequence, record } = stored.value
    if (record.handedOver === true) return
    const isMoved = state?.sequence !== sequence
    if (isMoved) yield* onMoved(record.cursor)
    const isBehind = !isMoved && (yield* lastOfSource(nats, options)) > options.position(record.cursor)
    const nowMs = yield* Clock.currentTimeMillis
    state = observe(state, { sequence, isBehind, isOurs: options.isOurs(record.cursor) }, nowMs)
    if (takesOver(state, patience, nowMs)) return
    yield* Effect.sleep(lookEveryMs)
  }
})

/** The stored cursor, as just read. */
export interface Observation {
  /** The cursor's sequence in its stream: it changes with every step. */
  readonly sequence: number
  /** Whether the source has messages after the cursor. */
  readonly isBehind: boolean
  /** Whether this relay would leave the cursor unchanged; false when a twin with another configuration took it over. */
  readonly isOurs: boolean
}

export interface Standby {
  readonly sequence: number
  /** When the cursor was first seen at this position. */
  readonly sinceMs: number
  /** Since when the source is known to have more; null while it has none. */
  readonly behindSinceMs: number | null
  readonly isOurs: boolean
}

export interface Patience {
  /** How long the cursor can stay unchanged while source messages wait. */
  readonly behindMs: number
  /** How long it can stay unchanged at all. */
  readonly quietMs: number
}

// Longer than garbage collection or a slow disk delays a healthy relay. With the check in between, work resumes after
// 1.3 s at the latest. A half-written step with nothing after it waits for the longer one.
const waitedForMs = 500
const quietMsDefault = 3_000

/** Between one and two times as long, so that one of several standbys is first. `share` is from 0 to 1. */
export const patienceOf = (share: number): Patience => ({
  behindMs: waitedForMs * (1 + share),
  quietMs: quietMsDefault * (1 + share)
})

/** `before` is undefined at first: observations from before a twin won say nothing about the twin. */
export const observe = (
  before: Standby | undefined,
  { sequence, isBehind, isOurs }: Observation,
  nowMs: number
): Standby =>
  before === undefined || before.sequence !== sequence
    ? { sequence, sinceMs: nowMs, behindSinceMs: isBehind ? nowMs : null, isOurs }
    : { ...before, behindSinceMs: isBehind ? (before.behindSinceMs ?? nowMs) : null }

/** A relay with another configuration takes nothing from a possibly idle twin: the newer one began after it. */
export const takesOver = ({ sinceMs, behindSinceMs, isOurs }: Standby, patience: Patience, nowMs: number): boolean =>
  (isOurs && nowMs - sinceMs >= patience.quietMs) ||
  (behindSinceMs !== null && nowMs - behindSinceMs >= patience.behindMs)
