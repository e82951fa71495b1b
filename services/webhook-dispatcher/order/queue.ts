/**
 * The queue of an ordered endpoint: which of its deliveries may go, and those held in this process until they may. The
 * held ones are bounded by number and bytes, and no key may take more than half of what is left; what exceeds that is
 * put off, the later events of a key first, and stays outstanding.
 */
import { Deferred, Effect } from "effect"
import type { Delivery } from "#webhooks/contract"
import { type KeyOrder, keyOrder } from "./key-order.ts"

/** What becomes of a delivery now. `PutOff`: it comes again at a time; `Back`: to whoever takes the endpoint next. */
export type Turn =
  | { readonly _tag: "Go" }
  | { readonly _tag: "PutOff"; readonly untilMs: number }
  | { readonly _tag: "Back" }

const go: Turn = { _tag: "Go" }
const back: Turn = { _tag: "Back" }

/** A delivery that has a key. */
export interface Keyed extends Pick<Delivery, "sequence" | "attempt"> {
  readonly key: string
}

interface Held {
  readonly key: string
  readonly sequence: number
  readonly bytes: number
  readonly turn: Deferred.Deferred<Turn>
}

export const heldMax = 1_024
const heldBytesMax = 16 * 1_024 * 1_024
// Any key may hold as many, as long as there is room at all.
const heldOfKeyMin = 16
// A put-off delivery should be back before its turn, but not so often that this alone keeps the broker busy.
const putOffMsMin = 1_000
const msPerTurn = 5
// One that should have come by then is looked for.
const overdueMs = 15_000

/** The deliveries that this process holds, by key and event. */
const heldDeliveries = () => {
  const keys = new Map<string, Map<number, Held>>()
  let [count, bytes] = [0, 0]
  const letGo = ({ key, sequence, bytes: freed, turn }: Held, next: Turn) => {
    const ofKey = keys.get(key)
    if (ofKey?.delete(sequence) !== true) return
    if (ofKey.size === 0) keys.delete(key)
    count -= 1
    bytes -= freed
    Deferred.doneUnsafe(turn, Effect.succeed(next))
  }
  return {
    keys: () => [...keys.keys()],
    of: (key: string, sequence: number) => keys.get(key)?.get(sequence),
    latestOf: (key: string) => {
      const ofKey = keys.get(key)
      return ofKey === undefined ? undefined : ofKey.get(Math.max(...ofKey.keys()))
    },
    hasRoom: (key: string, size: number) =>
      count < heldMax &&
      bytes + size <= heldBytesMax &&
      (keys.get(key)?.size ?? 0) < Math.max(heldOfKeyMin, heldMax - count),
    letGo,
    letAllGo: (next: (one: Held) => Turn) => {
      const all = [...keys.values()].flatMap((ofKey) => [...ofKey.values()])
      for (const one of all) letGo(one, next(one))
    },
    hold: ({ key, sequence }: Keyed, size: number): Effect.Effect<Turn> => {
      const one: Held = { key, sequence, bytes: size, turn: Deferred.makeUnsafe() }
      const ofKey = keys.get(key) ?? new Map<number, Held>()
      keys.set(key, ofKey.set(sequence, one))
      count += 1
      bytes += size
      return Effect.onInterrupt(Deferred.await(one.turn), () => Effect.sync(() => letGo(one, back)))
    }
  }
}

interface Queue {
  readonly nowMs: () => number
  readonly order: KeyOrder
  readonly held: ReturnType<typeof heldDeliveries>
  /** Being handled, whether held or sent. */
  readonly inHand: Set<number>
  /** When a delivery that is not in hand comes again. */
  readonly dueMs: Map<number, number>
  /** Handled during a look at what is stored. */
  touched: Set<number> | undefined
  isClosed: boolean
}

export interface OrderedQueue extends ReturnType<typeof orderedQueue> {}

export const orderedQueue = (nowMs: () => number) => {
  const queue: Queue = {
    nowMs,
    order: keyOrder(),
    held: heldDeliveries(),
    inHand: new Set(),
    dueMs: new Map(),
    touched: undefined,
    isClosed: false
  }
  const { order, held, inHand, dueMs } = queue
  return {
    /** Known to be outstanding, and not here yet. */
    known: ({ key, sequence }: Keyed, comesMs: number) => {
      order.add(key, sequence)
      dueMs.set(sequence, comesMs)
    },
    /** Waits for its turn. A retry has it. */
    turn: (delivery: Keyed, at: Waiting) => turn(queue, delivery, at),
    /** Marks it as being here for as long as it is handled. */
    inHand: <A>({ sequence }: Keyed, handled: Effect.Effect<A>): Effect.Effect<A> =>
      Effect.suspend(() => {
        inHand.add(sequence)
        queue.touched?.add(sequence)
        return Effect.ensuring(
          handled,
          Effect.sync(() => void inHand.delete(sequence))
        )
      }),
    comesAgain: ({ sequence }: Keyed, atMs: number) => void dueMs.set(sequence, atMs),
    end: ({ key, sequence }: Keyed) => end(queue, key, sequence),
    waiting: order.waiting,
    /** All that are held leave the process for the broker's schedules. */
    putOffHeld: () => held.letAllGo(({ key, sequence }) => putOff(queue, key, sequence)),
    /** All that are held go back, and so does all that comes. */
    close: () => {
      queue.isClosed = true
      held.letAllGo(() => back)
    },
    /** Whether a key waits for a delivery that should have come long ago. */
    isOverdue: () =>
      held.keys().some((key) => {
        const first = order.first(key)
        return first !== undefined && !inHand.has(first) && (dueMs.get(first) ?? 0) + overdueMs < nowMs()
      }),
    /**
     * Drops what is outstanding here and not stored any more, and returns how many that were. `read`: the events of
     * which a delivery is stored.
     */
    compare: <E, R>(read: Effect.Effect<ReadonlySet<number>, E, R>) =>
      Effect.suspend(() => {
        const before = [...order.all()].filter(([, sequence]) => !inHand.has(sequence))
        const touched = new Set<number>()
        queue.touched = touched
        return Effect.map(read, (stored) => {
          queue.touched = undefined
          const gone = before.filter(([, sequence]) => !stored.has(sequence) && !touched.has(sequence))
          for (const [key, sequence] of gone) end(queue, key, sequence)
          return gone.length
        })
      })
  }
}

interface Waiting {
  /** Of its body, in bytes. */
  readonly size: number
  readonly mayHold: boolean
}

const turn = (queue: Queue, delivery: Keyed, { size, mayHold }: Waiting): Effect.Effect<Turn> => {
  const { order, held, dueMs } = queue
  const { key, sequence, attempt } = delivery
  order.add(key, sequence)
  dueMs.delete(sequence)
  if (queue.isClosed) return Effect.succeed(back)
  if (attempt > 1 || order.before(key, sequence) === 0) return Effect.succeed(go)
  if (!mayHold) return Effect.succeed(putOff(queue, key, sequence))
  if (!held.hasRoom(key, size)) {
    const latest = held.latestOf(key)
    if (latest === undefined || latest.sequence < sequence) return Effect.succeed(putOff(queue, key, sequence))
    held.letGo(latest, putOff(queue, key, latest.sequence))
  }
  return held.hold(delivery, size)
}

/** Until its turn can have come: not before what it waits for comes again. */
const putOff = ({ order, dueMs, nowMs }: Queue, key: string, sequence: number): Turn => {
  const first = order.first(key)
  const inTurnMs = nowMs() + Math.max(putOffMsMin, order.before(key, sequence) * msPerTurn)
  const untilMs = Math.max(inTurnMs, first === undefined ? 0 : (dueMs.get(first) ?? 0))
  dueMs.set(sequence, untilMs)
  return { _tag: "PutOff", untilMs }
}

/** The next one of its key may go. */
const end = ({ order, held, dueMs }: Queue, key: string, sequence: number) => {
  order.end(key, sequence)
  dueMs.delete(sequence)
  const first = order.first(key)
  const next = first === undefined ? undefined : held.of(key, first)
  if (next !== undefined) held.letGo(next, go)
}
