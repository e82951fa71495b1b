/**
 * Stand-ins that write down what a piece of work asks of them, in its order, and fail at one of the calls. Run over every
 * call, they show what an outage or a lost answer between any two of them leaves behind.
 */
import { Effect, type Exit, Layer, Option, Stream } from "effect"
import { BusUnavailable, Kv, type KvBucket, type KvEntry, Publisher, Rejections, RevisionConflict } from "#bus"

/** What becomes of the call that fails. */
const faults = ["nothing is done", "the answer is lost"] as const
export type Fault = (typeof faults)[number]

export interface Recorder {
  /** What was asked for, in its order; calls that failed are among them. */
  readonly calls: ReadonlyArray<string>
  /** What was done, whether or not the answer came. */
  readonly done: ReadonlyArray<string>
  /** A call that may fail. */
  readonly call: <A, E, R>(name: string, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | BusUnavailable, R>
  /** A call that cannot fail. */
  readonly note: (name: string) => Effect.Effect<void>
  /** The place in `calls` of the one that failed. */
  readonly failedAt: () => number | undefined
}

/** `at`: which of the calls fails, counted from 1. */
export const recorder = (at?: number, fault: Fault = "nothing is done"): Recorder => {
  const calls: Array<string> = []
  const done: Array<string> = []
  let count = 0
  let failedAt: number | undefined
  const finished = (name: string) => Effect.sync(() => void done.push(name))
  return {
    calls,
    done,
    failedAt: () => failedAt,
    note: (name) =>
      Effect.andThen(
        Effect.sync(() => void calls.push(name)),
        finished(name)
      ),
    call: (name, work) =>
      Effect.suspend(() => {
        calls.push(name)
        count += 1
        const worked = Effect.tap(work, () => finished(name))
        if (count !== at) return worked
        failedAt = calls.length - 1
        const lost = Effect.fail(new BusUnavailable({ operation: name, detail: "no answer in time" }))
        return fault === "nothing is done" ? lost : Effect.andThen(worked, lost)
      })
  }
}

export interface Run<A, E> extends Pick<Recorder, "calls" | "done"> {
  /** The place in `calls` of the one that failed; undefined for the run in which none did. */
  readonly failedAt: number | undefined
  readonly fault: Fault
  readonly exit: Exit.Exit<A, E>
}

/** Runs the work without a failure, and then anew for each of its calls, in which that one fails in either way. */
export const failingAtEach = Effect.fnUntraced(function* <A, E, R>(
  work: (record: Recorder) => Effect.Effect<A, E, R>
): Effect.fn.Return<ReadonlyArray<Run<A, E>>, never, R> {
  const run = (record: Recorder, fault: Fault) =>
    Effect.map(Effect.exit(work(record)), (exit): Run<A, E> => ({
      ...record,
      failedAt: record.failedAt(),
      fault,
      exit
    }))
  const runs = [yield* run(recorder(), "nothing is done")]
  for (const fault of faults) {
    for (let at = 1; ; at += 1) {
      const one = yield* run(recorder(at, fault), fault)
      if (one.failedAt === undefined) break
      runs.push(one)
    }
  }
  return runs
})

/** Of a run, for the message of an assertion. */
export const told = ({ failedAt, fault, calls }: Run<unknown, unknown>) =>
  `${failedAt === undefined ? "nothing failed" : `${calls[failedAt]}: ${fault}`}; asked: ${calls.join(", ")}`

/** Whether `later` was asked for only after `earlier` was done. */
export const isAfter = ({ calls, done }: Pick<Recorder, "calls" | "done">, later: string, earlier: string) =>
  !calls.includes(later) || (done.includes(earlier) && calls.indexOf(earlier) < calls.indexOf(later))

/** `stored`: the subjects of what is stored, in its order. */
export const recordedPublisher = ({ call }: Pick<Recorder, "call">, stored: Array<string> = []) => {
  const store = (subject: string) =>
    call(
      `publish ${subject}`,
      Effect.sync(() => ({ stream: "a stream", sequence: stored.push(subject), duplicate: false }))
    )
  return Publisher.of({
    publish: (subject) => store(subject),
    publishRaw: (subject) => store(subject),
    publishTogether: (messages) =>
      call(
        `publish together ${messages.map(({ subject }) => subject).join(" ")}`,
        Effect.sync(() => stored.push(...messages.map(({ subject }) => subject)))
      )
  })
}

export const recordedRejections = ({ call }: Pick<Recorder, "call">) =>
  Rejections.of({
    reject: ({ subject }) => call(`reject ${subject}`, Effect.void),
    reportable: (faults) => faults
  })

/** Whether a filter of the broker's takes a subject or a key. */
export const matches = (name: string, filter: string): boolean => {
  const [parts, wanted] = [name.split("."), filter.split(".")]
  const isOpen = wanted.at(-1) === ">"
  const fits = (part: string, at: number) => part === "*" || part === parts[at]
  return isOpen
    ? parts.length >= wanted.length && wanted.slice(0, -1).every(fits)
    : parts.length === wanted.length && wanted.every(fits)
}

/** A bucket in memory; its keys never expire. */
export const recordedBucket = <A>({ call }: Pick<Recorder, "call">, entries = new Map<string, KvEntry<A>>()) => {
  let revision = 0
  const all = () => [...entries.values()]
  const conflict = (key: string) => new RevisionConflict({ operation: `write ${key}`, detail: "another was first" })
  const write = (verb: string, key: string, value: A | undefined, expected: number) =>
    call(
      `${verb} ${key}`,
      Effect.suspend(() => {
        if ((entries.get(key)?.revision ?? 0) !== expected) return Effect.fail(conflict(key))
        // Another may have opened the same bucket.
        revision = 1 + Math.max(revision, ...all().map((entry) => entry.revision))
        if (value === undefined) entries.delete(key)
        else entries.set(key, { key, value, revision })
        return Effect.succeed(revision)
      })
    )
  const bucket: Pick<KvBucket<A>, "get" | "create" | "update" | "remove" | "erase" | "scan" | "entries"> = {
    get: (key) =>
      call(
        `get ${key}`,
        Effect.sync(() => Option.fromUndefinedOr(entries.get(key)))
      ),
    create: (key, value) => write("create", key, value, 0),
    update: (key, value, expected) => write("update", key, value, expected),
    remove: (key, expected) => Effect.asVoid(write("remove", key, undefined, expected)),
    erase: (key, expected) => Effect.asVoid(write("erase", key, undefined, expected)),
    scan: (keys) => Stream.suspend(() => Stream.fromIterable(all().filter(({ key }) => matches(key, keys)))),
    entries: Effect.sync(all)
  }
  // Nothing that is tested with it follows a bucket's changes.
  return bucket as KvBucket<A>
}

/** Buckets in memory by their names, whatever schemas they are opened with. */
export const recordedKv = (record: Pick<Recorder, "call">) => {
  const entries = new Map<string, Map<string, KvEntry<never>>>()
  const open = (name: string) => {
    const found = entries.get(name) ?? new Map<string, KvEntry<never>>()
    entries.set(name, found)
    return Effect.succeed(recordedBucket(record, found))
  }
  return { layer: Layer.succeed(Kv, { open: open as unknown as Kv["Service"]["open"] }), entries }
}
