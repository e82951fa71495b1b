/**
 * Payers' standings in the bucket. A change is decided anew on what was read last until it is written first; a record
 * that says nothing any more goes by itself. Changes of one payer that come to one process at once are made in the order
 * in which they came, by one write: a wallet that pays for a hundred calls at once is not in its own way.
 */
import { Deferred, Effect, Exit, Option } from "effect"
import { type BusError, BusUnavailable, Kv, type KvBucket, type KvEntry } from "#bus"
import { payerKeyOf } from "#contracts"
import { PayerRecord, newPayer, saysSomething } from "./payer.ts"
import { claimBucket } from "./ClaimStore.ts"
export interface PayerName {
  readonly network: string
  readonly payer: string
}

export type PayerEntry = Option.Option<KvEntry<PayerRecord>>

export interface PayerBook {
  readonly read: (name: PayerName) => Effect.Effect<PayerEntry, BusError>
  /**
   * Writes what `change` makes of the record, or nothing where that is undefined; the record as it is right after it.
   * `seen`: what was read before.
   */
  readonly change: (name: PayerName, change: PayerChange, seen?: PayerEntry) => Effect.Effect<PayerRecord, BusError>
}

type PayerChange = (record: PayerRecord) => PayerRecord | undefined

// Each try that fails is another process' that succeeded; more do not change one wallet at once.
const triesMax = 64
const goneAfterMs = 60_000

export const recordOf = (name: PayerName, entry: PayerEntry): PayerRecord =>
  Option.isSome(entry) ? entry.value.value : newPayer(name.network, name.payer)

export const openPayerBook = Effect.fnUntraced(function* (): Effect.fn.Return<PayerBook, BusError, Kv> {
  const bucket = yield* (yield* Kv).open(claimBucket, PayerRecord)
  const read = ({ network, payer }: PayerName) => bucket.get(payerKeyOf(network, payer))
  // As many as are in work in this process, which its roles bound.
  const queues = new Map<string, Array<Waiting>>()
  const change = (name: PayerName, change: PayerChange, seen?: PayerEntry) =>
    Effect.suspend(() => {
      const key = payerKeyOf(name.network, name.payer)
      const waiting: Waiting = { change, seen, done: Deferred.makeUnsafe() }
      const queue = queues.get(key)
      if (queue !== undefined) {
        queue.push(waiting)
        return Deferred.await(waiting.done)
      }
      const own = [waiting]
      queues.set(key, own)
      const over = () => void queues.delete(key)
      const working = Effect.onExit(inTurn({ bucket, read, name }, own, over), () => leave(own, key, over))
      // Whoever came first may be interrupted; the others wait on. Its questions to the broker all have an end.
      return Effect.andThen(Effect.forkDetach(working, { startImmediately: true }), Deferred.await(waiting.done))
    })
  return { read, change }
})

interface Waiting {
  readonly change: PayerChange
  readonly seen: PayerEntry | undefined
  readonly done: Deferred.Deferred<PayerRecord, BusError>
}

interface Page {
  readonly bucket: KvBucket<PayerRecord>
  readonly read: PayerBook["read"]
  readonly name: PayerName
}

/** Nobody waits for a process that goes. */
const leave = (left: Array<Waiting>, key: string, over: () => void) =>
  Effect.sync(() => {
    if (left.length === 0) return
    over()
    const gone = new BusUnavailable({ operation: `change ${key}`, detail: "the process ends" })
    for (const { done } of left) Deferred.doneUnsafe(done, Exit.fail(gone))
  })

/** All that have come, again and again until nobody comes. */
const inTurn = Effect.fnUntraced(function* (
  page: Page,
  queue: Array<Waiting>,
  over: () => void
): Effect.fn.Return<void> {
  let entry: PayerEntry | undefined
  while (queue.length > 0) {
    const batch = [...queue]
    const made = yield* Effect.exit(changeAll(page, batch, newest([entry, ...batch.map(({ seen }) => seen)])))
    if (Exit.isSuccess(made)) entry = made.value.entry
    queue.splice(0, batch.length)
    batch.forEach(({ done }, index) => {
      const told = Exit.map(made, ({ records }) => records[index] ?? recordOf(page.name, Option.none()))
      Deferred.doneUnsafe(done, told)
    })
  }
  // In the very turn in which nobody was found: who comes next begins anew.
  over()
})

const newest = (entries: ReadonlyArray<PayerEntry | undefined>): PayerEntry | undefined => {
  const revisionOf = (entry: PayerEntry) => (Option.isSome(entry) ? entry.value.revision : 0)
  return entries.reduce(
    (best, entry) =>
      entry !== undefined && (best === undefined || revisionOf(entry) > revisionOf(best)) ? entry : best,
    undefined
  )
}

interface Changed {
  readonly entry: PayerEntry
  /** After each change, in their order. */
  readonly records: ReadonlyArray<PayerRecord>
}

const changeAll = Effect.fnUntraced(function* (
  { bucket, read, name }: Page,
  batch: ReadonlyArray<Waiting>,
  seen: PayerEntry | undefined
): Effect.fn.Return<Changed, BusError> {
  const key = payerKeyOf(name.network, name.payer)
  let entry = seen ?? (yield* read(name))
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = recordOf(name, entry)
    let next = before
    const records = batch.map(({ change }) => (next = change(next) ?? next))
    if (next === before) return { entry, records }
    const revision = Option.isSome(entry) ? entry.value.revision : 0
    const write = bucket.update(key, next, revision, saysSomething(next) ? undefined : goneAfterMs)
    const written = yield* write.pipe(
      Effect.asSome,
      Effect.catchTag("RevisionConflict", () => Effect.succeedNone)
    )
    if (Option.isSome(written)) {
      return { entry: Option.some({ key, value: next, revision: written.value }), records }
    }
    entry = yield* read(name)
  }
  const detail = `somebody else was first ${triesMax} times`
  return yield* new BusUnavailable({ operation: `change payer ${name.payer}`, detail })
})
