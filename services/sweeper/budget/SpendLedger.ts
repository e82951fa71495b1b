/**
 * Keeps the spend book up to LOG, and a copy of it in KV `spend`, so that a restart reads only what is new. Sums are
 * stored before the cursor: after a crash between the two, what is read again is passed over by the projects whose
 * sums have it. An emptied bucket is filled again from the log's beginning. Another process that wrote first is a
 * `RevisionConflict`: then everything here is old, and is to be opened anew.
 */
import { Effect, Result, Stream } from "effect"
import { type BusError, type KvBucket, Kv, Rejections, type SourceMessage, StreamReader } from "#bus"
import { type ProjectSpend, SpendEntry, spendCursorKey, spendKey } from "#contracts"
import { makeSpendBook, type SpendBook } from "./spend-book.ts"
import { spentIn } from "./usage.ts"

export interface SpendLedger {
  readonly book: SpendBook
  /** Counts what LOG has by now and stores the sums. Answers with the position. */
  readonly catchUp: (nowMs: number) => Effect.Effect<number, BusError>
}

// A crash while a long log is counted loses no more work than this.
const storeEveryRecords = 100_000
const writesAtOnce = 32

export const openSpendLedger = Effect.fn("openSpendLedger")(function* (): Effect.fn.Return<
  SpendLedger,
  BusError,
  Kv | StreamReader | Rejections
> {
  const bucket = yield* (yield* Kv).open("spend", SpendEntry)
  const reader = yield* StreamReader
  const rejections = yield* Rejections
  const book = makeSpendBook()
  const revisions = new Map<string, number>()
  let position = 0
  let stored = 0
  yield* Stream.runForEach(bucket.scan(">"), ({ key, value, revision }) =>
    Effect.sync(() => {
      revisions.set(key, revision)
      if (value._tag === "ProjectSpend") book.load(value)
      else position = value.position
    })
  )
  stored = position

  const write = writer(bucket, revisions)
  const store = Effect.gen(function* () {
    const changed = book.takeChanged()
    if (changed.length === 0 && stored === position) return
    yield* Effect.forEach(changed, (spend) => write(spendKey(spend.projectId), spend), {
      concurrency: writesAtOnce,
      discard: true
    })
    yield* write(spendCursorKey, { _tag: "SpendCursor", position })
    stored = position
  })

  const take = (message: SourceMessage) => {
    const spent = spentIn(message)
    if (Result.isFailure(spent)) {
      const { subject, sequence, data: payload } = message
      return Effect.as(
        rejections.reject({ origin: "log", subject, sequence, faults: spent.failure, payload }),
        undefined
      )
    }
    book.add(message.sequence, spent.success)
    return undefined
  }

  // The arrays of a page are read in a plain loop: a million records come through here.
  const takeAll = Effect.fnUntraced(function* (page: ReadonlyArray<SourceMessage>) {
    for (const message of page) {
      const rejecting = take(message)
      if (rejecting !== undefined) yield* rejecting
      position = message.sequence
    }
    if (position - stored >= storeEveryRecords) yield* store
  })

  const catchUp = Effect.fn("SpendLedger.catchUp")(function* (nowMs: number) {
    const { lastSequence } = yield* reader.bounds("LOG")
    if (lastSequence > position) {
      yield* reader
        .range("LOG", { fromSequence: position + 1, toSequence: lastSequence })
        .pipe(Stream.runForEachArray(takeAll))
    }
    book.prune(nowMs)
    yield* store
    return position
  })
  return { book, catchUp }
})

const writer =
  (bucket: KvBucket<SpendEntry>, revisions: Map<string, number>) =>
  (key: string, value: SpendEntry): Effect.Effect<void, BusError> => {
    const revision = revisions.get(key)
    if (revision === undefined && isEmpty(value)) return Effect.void
    const written = isEmpty(value)
      ? Effect.map(bucket.remove(key, revision ?? 0), () => revisions.delete(key))
      : Effect.map(
          revision === undefined ? bucket.create(key, value) : bucket.update(key, value, revision),
          (next) => void revisions.set(key, next)
        )
    return Effect.asVoid(written)
  }

// Of a project without spend in the window nothing is kept.
const isEmpty = (value: SpendEntry): value is ProjectSpend => value._tag === "ProjectSpend" && value.hours.length === 0
