/**
 * Reads a stream in order from a sequence on, forever, into a bounded queue, without a consumer: a client with the
 * right to create one could have the broker deliver stored messages to any subject. The existing messages are read in
 * pages; after that, each message is taken as the broker announces it. An announcement that leaves a gap, or for which
 * the queue has no room, leads back to pages, so that a slow reader stops the broker's sending. A lost connection fails
 * the queue; the reader knows where to resume.
 */
import type { Msg } from "@nats-io/nats-core"
import { Clock, Effect, Latch, Queue, type Scope } from "effect"
import type { Nats } from "./connection/connection.ts"
import { type BusError, BusUnavailable } from "./errors.ts"
import { pageMessagesMax, readPage, type SourceMessage, storedMessage } from "./pages.ts"
import { announcementsOf } from "./topology/topology.ts"

interface ReadingOptions extends Pick<BatchOptions, "restMs"> {
  /** Of the queue: more than a page. */
  readonly capacity: number
}

interface Reading {
  readonly stream: string
  /** Whether the queue took the message. */
  readonly offer: (message: SourceMessage) => boolean
  /** Waits until the queue has room for a page. */
  readonly room: Effect.Effect<void>
  /** Opened when there is more to read than was taken. */
  readonly bell: Latch.Latch
  /** The first sequence that is not yet taken. */
  next: number
  /** The highest sequence that the broker has announced. */
  announced: number
  /**
   * How many announcements are taken as they arrive, once everything stored before is taken; 0 while pages are read.
   */
  liveMax: number
}

// Used only while the reader is slow: a page's worth of events takes it about 20 ms.
const roomLookedForMs = 2
// An announcement can be lost, and a broker with streams of another release sends none.
const lookAgainMs = 2_000
// For a stream that announces nothing.
const lookOftenMs = 250
// An answering replica can lag the leader that announced. A message later than this is found by the next poll.
const behindMs = [2, 5, 10, 20, 50, 100, 150] as const

/**
 * Messages from `fromSequence` on. The queue fails when reading cannot continue and must be restarted. `Extra`: values
 * that the reader itself can put between the messages.
 */
export const readInOrder = Effect.fnUntraced(function* <Extra = never>(
  nats: Nats["Service"],
  stream: string,
  fromSequence: number,
  { capacity, restMs = 0 }: ReadingOptions
): Effect.fn.Return<Queue.Queue<SourceMessage | Extra, BusError>, never, Scope.Scope> {
  const queue = yield* Queue.bounded<SourceMessage | Extra, BusError>(capacity)
  const reading: Reading = {
    stream,
    offer: (message) => Queue.offerUnsafe(queue, message),
    room: Effect.gen(function* () {
      while (Queue.sizeUnsafe(queue) > capacity - pageMessagesMax) yield* Effect.sleep(roomLookedForMs)
    }),
    bell: yield* Latch.make(),
    next: fromSequence,
    announced: 0,
    liveMax: 0
  }
  const lookMs = announcementsOf(stream).length === 0 ? lookOftenMs : lookAgainMs
  yield* onAnnouncements(nats, reading)
  const pump = Effect.gen(function* () {
    while (true) {
      yield* catchUp(nats, reading)
      reading.bell.closeUnsafe()
      // A resting reader takes a page's worth as it arrives; after the rest, only the messages that still exist by
      // then.
      reading.liveMax = restMs === 0 ? Number.POSITIVE_INFINITY : pageMessagesMax
      yield* Effect.raceFirst(reading.bell.await, Effect.sleep(lookMs))
      const isCrowded = reading.liveMax === 0
      reading.liveMax = 0
      if (isCrowded) yield* Effect.sleep(restMs)
    }
  })
  const lost = Effect.flatMap(
    nats.lost,
    () => new BusUnavailable({ operation: `read ${stream}`, detail: "the connection was lost" })
  )
  const reads = Effect.raceFirst(pump, lost)
  yield* Effect.forkScoped(Effect.catchCause(reads, (cause) => Queue.failCause(queue, cause)))
  return queue
})

/** Reads pages until nothing is left or announced. */
const catchUp = Effect.fnUntraced(function* (nats: Nats["Service"], reading: Reading) {
  let waits = 0
  while (true) {
    yield* reading.room
    const from = reading.next
    const { messages, pending } = yield* readWatched(nats, reading)
    for (const message of messages) if (!take(nats, reading, message)) break
    if (pending > 0) continue
    if (reading.announced < reading.next) return
    if (reading.next > from) waits = 0
    const waitMs = behindMs[waits]
    // An announced message may have been removed since.
    if (waitMs === undefined) return
    waits += 1
    yield* Effect.sleep(waitMs)
  }
})

const take = ({ cache }: Nats["Service"], reading: Reading, message: SourceMessage) => {
  const isTaken = reading.offer({ ...message, data: cache.intern(message.subject, message.data) })
  if (isTaken) reading.next = message.sequence + 1
  return isTaken
}

const readWatched = Effect.fnUntraced(function* (nats: Nats["Service"], { stream, next }: Reading) {
  const sinceMs = yield* Clock.currentTimeMillis
  const page = yield* readPage(nats, stream, { from: { seq: next }, messagesMax: pageMessagesMax }).pipe(
    Effect.tapError((error) => Effect.sync(() => nats.missed("read", stream, error, sinceMs)))
  )
  nats.outages.worked("read", stream)
  return page
})

const onAnnouncements = (nats: Nats["Service"], reading: Reading) => {
  const onMessage = (error: Error | null, message: Msg) => {
    const found = error === null ? storedMessage(message) : undefined
    if (found === undefined) return
    reading.announced = Math.max(reading.announced, found.sequence)
    if (reading.liveMax > 0 && found.sequence === reading.next && take(nats, reading, found)) reading.liveMax -= 1
    if (reading.liveMax === 0 || found.sequence >= reading.next) reading.bell.openUnsafe()
  }
  const subscribe = (subject: string) =>
    Effect.acquireRelease(
      Effect.sync(() => nats.connection.subscribe(subject, { callback: onMessage })),
      (subscription) => Effect.sync(() => subscription.unsubscribe())
    )
  return Effect.forEach(announcementsOf(reading.stream), subscribe, { discard: true })
}

/**
 * A run: messages that arrive within a moment, taken together, because a stream of single messages costs more than the
 * work.
 */
export interface BatchOptions {
  readonly messagesMax: number
  /** How long the first message waits for others. */
  readonly withinMs: number
  /**
   * Between two pulls, once less than a full pull is left to read. Messages that the stream replaces meanwhile are not
   * sent.
   */
  readonly restMs?: number
}

export const takeBatch = Effect.fnUntraced(function* <A>(
  queue: Queue.Queue<A, BusError>,
  { messagesMax, withinMs }: BatchOptions
): Effect.fn.Return<ReadonlyArray<A>, BusError> {
  const first = yield* Queue.takeBetween(queue, 1, messagesMax)
  if (first.length >= messagesMax) return first
  yield* Effect.sleep(withinMs)
  if (Queue.sizeUnsafe(queue) === 0) return first
  return [...first, ...(yield* Queue.takeBetween(queue, 1, messagesMax - first.length))]
})
