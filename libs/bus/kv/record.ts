/**
 * A record: the value at a key of a bucket, changed or removed by a pure decision; the first writer wins. A decision
 * that loses its write is repeated on what was written meanwhile. When it is unknown whether a write was stored,
 * nothing more is written, unless the record itself shows that it was not.
 */
import { Clock, Deferred, Effect, Exit, Option, Random, Result } from "effect"
import { type BusError, BusUnavailable, RevisionConflict } from "../errors.ts"
import type { KvBucket, KvEntry } from "./bucket.ts"

/** A decision's result for a record. */
export interface Change<S, A> {
  readonly answer: A
  /** The value to store; undefined: nothing is stored. */
  readonly next?: S | undefined
  /** Removes the record, by the bucket operation of this name. */
  readonly removal?: "remove" | "erase"
}

/** The record at the time of the decision. `revision` 0: it does not exist. */
export interface DecisionContext {
  readonly nowMs: number
  readonly revision: number
}

/** Where records are kept: a bucket, or a stream with one subject per record. */
export type RecordStore<S> = Pick<KvBucket<S>, "get" | "create" | "update"> &
  Partial<Pick<KvBucket<S>, "remove" | "erase">>

/** Pure, and called again after each lost write. */
export type Decide<S, A, E> = (before: S | undefined, context: DecisionContext) => Result.Result<Change<S, A>, E>

/** A decision's answer, with the record as last stored, including changes that shared the write. */
export interface Changed<S, A> {
  readonly answer: A
  readonly value: S | undefined
  readonly revision: number
}

export interface ChangeOptions<S> {
  /** The record, or its absence, from an earlier read or write. It can allow a change but never refuses one. */
  readonly known?: Option.Option<KvEntry<S>> | undefined
}

type IsOurs<S> = (found: S, written: S) => boolean | undefined

export interface RecordsOptions<S> {
  /** How long a record is kept after its last write; undefined: permanently. */
  readonly keptMs?: (value: S, nowMs: number) => number | undefined
  /** Concurrent changes of one key in this process share a write, in their order. */
  readonly together?: boolean
  /**
   * Whether a changed record shows that `written` was stored by a write whose answer was lost. Undefined: it cannot
   * tell, because others may have changed it since; the change then fails as that write did.
   */
  readonly isOurs?: IsOurs<S>
}

export interface Records<S> {
  /** Fails with `BusUnavailable` when it lost to other writers every time. */
  readonly change: <A, E = never>(
    key: string,
    decide: Decide<S, A, E>,
    options?: ChangeOptions<S>
  ) => Effect.Effect<Changed<S, A>, E | BusError>
  /**
   * Stores a value over the revision that its writer has read; 0: only if absent. False if another writer was first.
   */
  readonly replace: (key: string, next: S, seen: number) => Effect.Effect<Changed<S, boolean>, BusError>
  /** Like `replace`, for the only writer of a record: fails if another was first. Returns the revision. */
  readonly overwrite: (key: string, next: S, seen: number) => Effect.Effect<number, BusError>
}

export const records = <S>(bucket: RecordStore<S>, options: RecordsOptions<S> = {}): Records<S> => {
  const { keptMs = () => undefined, together = false, isOurs } = options
  const store: Store<S> = { bucket, keptMs, isOurs }
  const change = together ? sharedChanges(store) : ownChanges(store)
  const replace = (key: string, next: S, seen: number) =>
    change(
      key,
      (_, { revision }) => Result.succeed(revision === seen ? { answer: true, next } : { answer: false }),
      // The decision depends on the revision alone.
      { known: seen === 0 ? Option.none() : Option.some({ key, value: next, revision: seen }) }
    )
  const overwrite = (key: string, next: S, seen: number) =>
    Effect.flatMap(replace(key, next, seen), ({ answer, revision }) =>
      answer
        ? Effect.succeed(revision)
        : Effect.fail(new RevisionConflict({ operation: `overwrite ${key}`, detail: "another came first" }))
    )
  return { change, replace, overwrite }
}

interface Store<S> {
  readonly bucket: RecordStore<S>
  readonly keptMs: (value: S, nowMs: number) => number | undefined
  readonly isOurs: IsOurs<S> | undefined
}

const ownChanges =
  <S>(store: Store<S>): Records<S>["change"] =>
  (key, decide, options) =>
    Clock.clockWith((clock) =>
      Effect.flatMap(changedAll(store, key, [{ decide, ...options, clock }]), ([only]) =>
        only === undefined ? Effect.die("a decision has no answer") : Effect.fromResult(only)
      )
    )

interface Member<S, A, E> extends ChangeOptions<S> {
  readonly decide: Decide<S, A, E>
  /** The caller's. */
  readonly clock: Clock.Clock
}

type Outcome<S, A, E> = Result.Result<Changed<S, A>, E>

// Each lost write means that another succeeded, and no more processes than this change one record at once.
const triesMax = 64
// Writers that lost to each other do not retry at the same moment.
const pauseMsMax = 16

/** Decides for all members in order, and stores the result with one write. */
const changedAll = Effect.fnUntraced(function* <S, A, E>(
  store: Store<S>,
  key: string,
  members: ReadonlyArray<Member<S, A, E>>
): Effect.fn.Return<ReadonlyArray<Outcome<S, A, E>>, BusError> {
  const { bucket, isOurs } = store
  let remembered = newest(members)
  // What a write whose answer was lost may have stored.
  let unsure: Unsure<S, A, E> | undefined
  for (let tries = 0; tries < triesMax; tries += 1) {
    const isRemembered = remembered !== undefined
    const before = Option.getOrUndefined(remembered ?? (yield* bucket.get(key)))
    remembered = undefined
    if (before !== undefined && unsure !== undefined && before.revision > unsure.revision) {
      const isStored = unsure.isOurs(before.value, unsure.next)
      if (isStored === undefined) return yield* unsure.failure
      if (isStored) return unsure.outcomes(before)
    }
    const decided = decideAll(members, before)
    if (isRemembered && decided.needsSight) continue
    const { next, removal, outcomes } = decided
    const revision = before?.revision ?? 0
    if (next === undefined && removal === undefined) return outcomes({ value: before?.value, revision })
    const written = yield* Effect.result(write(store, key, decided, before))
    if (Result.isSuccess(written)) return outcomes({ value: next, revision: written.success })
    const { failure } = written
    if (failure._tag === "BusUnavailable" && isOurs !== undefined && unsure === undefined && next !== undefined) {
      unsure = { failure, isOurs, next, outcomes, revision }
    } else if (failure._tag !== "RevisionConflict") return yield* failure
    else if (tries > 0) yield* Effect.sleep(yield* Random.nextIntBetween(0, Math.min(2 * tries, pauseMsMax)))
  }
  const detail = `other writes came first ${triesMax} times`
  return yield* new BusUnavailable({ operation: `change ${key}`, detail })
})

/** Returns the record's revision; 0 if it was removed. */
const write = Effect.fnUntraced(function* <S>(
  { bucket, keptMs }: Store<S>,
  key: string,
  { next, removal }: Pick<Decided<S, unknown, unknown>, "next" | "removal">,
  before: KvEntry<S> | undefined
): Effect.fn.Return<number, BusError> {
  if (next !== undefined) {
    const ttlMs = keptMs(next, yield* Clock.currentTimeMillis)
    return yield* before === undefined
      ? bucket.create(key, next, ttlMs)
      : bucket.update(key, next, before.revision, ttlMs)
  }
  const leave = removal === undefined ? undefined : bucket[removal]
  if (before !== undefined) yield* leave?.(key, before.revision) ?? Effect.die(`${key} cannot be deleted`)
  return 0
})

type Entry<S> = Option.Option<KvEntry<S>>

/** 0: there is no record. */
export const revisionOf = <S>(entry: Entry<S>): number => (Option.isSome(entry) ? entry.value.revision : 0)

const newest = <S>(members: ReadonlyArray<ChangeOptions<S>>): Entry<S> | undefined =>
  members.reduce<Entry<S> | undefined>(
    (best, { known }) =>
      known !== undefined && (best === undefined || revisionOf(known) > revisionOf(best)) ? known : best,
    undefined
  )

interface Decided<S, A, E> {
  /** The value to store. */
  readonly next: S | undefined
  /** How the record is removed. */
  readonly removal: Change<S, A>["removal"]
  /** A decision that refuses or changes nothing is made on a record that was read for it. */
  readonly needsSight: boolean
  readonly outcomes: (stored: Pick<Changed<S, A>, "value" | "revision">) => ReadonlyArray<Outcome<S, A, E>>
}

interface Unsure<S, A, E> extends Pick<Decided<S, A, E>, "outcomes"> {
  readonly failure: BusUnavailable
  readonly isOurs: IsOurs<S>
  readonly next: S
  /** The revision of the record to be replaced. */
  readonly revision: number
}

const decideAll = <S, A, E>(
  members: ReadonlyArray<Member<S, A, E>>,
  before: KvEntry<S> | undefined
): Decided<S, A, E> => {
  const revision = before?.revision ?? 0
  let value = before?.value
  let removal: Change<S, A>["removal"]
  let changes = 0
  const made = members.map(({ decide, clock }) => {
    const result = decide(value, { nowMs: clock.currentTimeMillisUnsafe(), revision })
    const change = Result.getOrUndefined(result)
    if (change?.next !== undefined || (change?.removal !== undefined && value !== undefined)) {
      value = change.next
      removal = change.removal
      changes += 1
    }
    return result
  })
  return {
    next: changes === 0 ? undefined : value,
    removal: before === undefined ? undefined : removal,
    needsSight: changes < made.length,
    outcomes: (stored) => made.map((result) => Result.map(result, ({ answer }) => ({ answer, ...stored })))
  }
}

/** A change waiting for its turn, with its answer's type erased. */
interface Waiting<S> extends Member<S, unknown, unknown> {
  readonly done: Deferred.Deferred<Changed<S, unknown>, unknown>
}

// The most changes in one write; more would only delay the first. Callers bound how many wait.
const membersMax = 512

/**
 * One write at a time per key: changes arriving meanwhile share the next one. A change whose caller leaves before its
 * turn is not made.
 */
const sharedChanges = <S>(store: Store<S>): Records<S>["change"] => {
  const queues = new Map<string, Array<Waiting<S>>>()

  const inTurn = Effect.fnUntraced(function* (key: string, queue: Array<Waiting<S>>) {
    let remembered: Entry<S> | undefined
    while (queue.length > 0) {
      const members = queue.splice(0, membersMax)
      const [first, ...rest] = members
      if (first === undefined) break
      const seen = newest([first, { known: remembered }])
      const made = yield* Effect.exit(changedAll(store, key, [{ ...first, known: seen }, ...rest]))
      remembered = Exit.isSuccess(made) ? lastOf(key, made.value) : undefined
      members.forEach(({ done }, index) => {
        Deferred.doneUnsafe(done, Exit.isSuccess(made) ? exitOf(made.value[index]) : Exit.failCause(made.cause))
      })
    }
    // In the same turn that found nothing left, so that the next change starts a new run.
    queues.delete(key)
  })

  return <A, E>(key: string, decide: Decide<S, A, E>, options: ChangeOptions<S> = {}) =>
    Clock.clockWith((clock) => {
      const done = Deferred.makeUnsafe<Changed<S, unknown>, unknown>()
      const waiting: Waiting<S> = { decide, ...options, clock, done }
      const others = queues.get(key)
      const queue = others ?? []
      queue.push(waiting)
      if (others === undefined) queues.set(key, queue)
      const leave = Effect.sync(() => {
        const place = queue.indexOf(waiting)
        if (place >= 0) queue.splice(place, 1)
      })
      // Detached: the first caller can be interrupted while others wait. Every request to the broker ends.
      const begun =
        others === undefined ? Effect.forkDetach(inTurn(key, queue), { startImmediately: true }) : Effect.void
      const answered = Effect.onInterrupt(Deferred.await(done), () => leave)
      // The decision is the caller's own, and so are its answer and refusal types.
      return Effect.andThen(begun, answered as Effect.Effect<Changed<S, A>, E | BusError>)
    })
}

const exitOf = <S, A, E>(outcome: Outcome<S, A, E> | undefined): Exit.Exit<Changed<S, A>, E> => {
  if (outcome === undefined) return Exit.die("a decision has no answer")
  return Result.isSuccess(outcome) ? Exit.succeed(outcome.success) : Exit.fail(outcome.failure)
}

/** The record after these outcomes, if one of them shows it. */
const lastOf = <S>(key: string, outcomes: ReadonlyArray<Outcome<S, unknown, unknown>>): Entry<S> | undefined => {
  const shared = outcomes.find((outcome) => Result.isSuccess(outcome))
  if (shared === undefined || Result.isFailure(shared)) return undefined
  const { value, revision } = shared.success
  return value === undefined ? Option.none() : Option.some({ key, value, revision })
}

/** Answers without a change. */
export const kept = <A>(answer: A): Result.Result<{ readonly answer: A }> => Result.succeed({ answer })

/** Stores `next` and answers with it. */
export const replaced = <S>(next: S): Result.Result<{ readonly answer: S; readonly next: S }> =>
  Result.succeed({ answer: next, next })

/** Removes the record and answers. */
export const deleted = <A>(answer: A, how: "remove" | "erase") => Result.succeed({ answer, removal: how })
