/**
 * A lease has one holder at a time. It is a key with a time to live of 3 s, renewed each second; the broker's clock
 * decides, so a holder that was suspended finds its lease gone. Holding a lease is a reason to work, never a proof: the
 * holder's work must be harmless when done twice.
 *
 * An idle fleet holds about twenty leases. A process renews all of its leases at the same moment: one wake-up and one
 * write per connection instead of one per lease.
 */
import { Clock, Context, Effect, Layer, Option, Result, Schema } from "effect"
import type { BusError } from "./errors.ts"
import { header, jsonCodec, toHeaders } from "./message.ts"
import { Nats } from "./connection/connection.ts"
import type { SourceMessage } from "./pages.ts"
import { StreamReader } from "./stream-reader.ts"

export interface Lease {
  readonly key: string
  readonly holder: string
  /** Called each time the lease was requested but another process holds it: the waiting loop is alive. */
  readonly onWait?: () => void
  /** Called before the lease is taken or renewed; its result is called once the broker has stored that. */
  readonly onWrite?: () => () => void
}

/** A currently held lease. */
interface LeaseEntry {
  readonly key: string
  readonly holder: string
  /** When it expires unless renewed, in epoch milliseconds of the broker's clock. */
  readonly untilMs: number
}

// Three renewals fit into one lifetime: one lost message must not end a healthy holder's lease.
const timeToLiveSeconds = 3
const timeToLive = `${timeToLiveSeconds}s`
const beatMs = 1_000
// Each process has its own moment, set by its start, so that they do not all ask the broker at once.
const beatOffsetMs = Math.floor(performance.timeOrigin) % beatMs

const codec = jsonCodec(Schema.Struct({ holder: Schema.String }))

export class Leases extends Context.Service<
  Leases,
  {
    /**
     * Runs `work` whenever this process holds the lease, forever: waits for the lease, interrupts the work when the
     * lease is lost, and waits again. An interruption releases the lease.
     */
    readonly whileHeld: <E, R>(lease: Lease, work: Effect.Effect<unknown, E, R>) => Effect.Effect<never, E, R>
    /** All held leases, by key; at most 10,000. */
    readonly held: Effect.Effect<ReadonlyArray<LeaseEntry>, BusError>
  }
>()("starling/bus/Leases") {
  static readonly layer = Layer.effect(
    Leases,
    Effect.gen(function* () {
      const nats = yield* Nats
      const whileHeld = <E, R>(lease: Lease, work: Effect.Effect<unknown, E, R>): Effect.Effect<never, E, R> =>
        takeAndWork(nats, lease, work).pipe(Effect.andThen(nextBeat), Effect.forever)
      const reader = yield* StreamReader
      return Leases.of({ whileHeld, held: leasesIn(reader) })
    })
  )
}

// A key per settler key, sweep and relay: hundreds at most.
const heldMax = 10_000

/** A released key has no message, or a marker without a holder. */
const leasesIn = Effect.fnUntraced(function* (reader: StreamReader["Service"]) {
  const counts = yield* reader.countBySubject("KV_leases", `${leasesPrefix}>`)
  const keys = Object.keys(counts).toSorted().slice(0, heldMax)
  const found = yield* Effect.forEach(keys, (subject) => reader.last("KV_leases", subject), { concurrency: 16 })
  return found.flatMap(Option.toArray).flatMap(leaseOf)
})

const leaseOf = ({ subject, storedAtMs, ...message }: SourceMessage): ReadonlyArray<LeaseEntry> =>
  Result.match(codec.decode(message), {
    onFailure: () => [],
    onSuccess: ({ holder }) => [
      { key: subject.slice(leasesPrefix.length), holder, untilMs: storedAtMs + timeToLiveSeconds * 1_000 }
    ]
  })

/** The moment when all leases of this process are renewed or requested again. */
const nextBeat = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
  Effect.sleep(beatMs - ((nowMs + beatOffsetMs) % beatMs))
)

const takeAndWork = Effect.fnUntraced(function* <E, R>(
  nats: Nats["Service"],
  lease: Lease,
  work: Effect.Effect<unknown, E, R>
): Effect.fn.Return<void, E, R> {
  const written = (expectedRevision: number) =>
    Effect.suspend(() => {
      const stored = lease.onWrite?.()
      return Effect.tap(write(nats, lease, expectedRevision), () => Effect.sync(() => stored?.()))
    })
  const taken = yield* Effect.option(written(0))
  if (taken._tag === "None") return lease.onWait?.()
  yield* Effect.logInfo("lease taken").pipe(Effect.annotateLogs({ lease: lease.key }))
  let revision = taken.value
  const renew = Effect.suspend(() => written(revision)).pipe(
    Effect.tap((next) => Effect.sync(() => (revision = next))),
    Effect.timeout("2 seconds")
  )
  const renewing = Effect.forever(Effect.andThen(nextBeat, renew)).pipe(
    Effect.catch(() => Effect.logWarning("lease lost").pipe(Effect.annotateLogs({ lease: lease.key })))
  )
  const release = Effect.suspend(() => remove(nats, lease, revision)).pipe(Effect.timeout("1 second"), Effect.ignore)
  yield* Effect.raceFirst(Effect.asVoid(work), Effect.asVoid(renewing)).pipe(Effect.ensuring(release))
})

const leasesPrefix = "$KV.leases."
const subjectOf = (lease: Lease) => `${leasesPrefix}${lease.key}`

// Bypasses the key-value client, which cannot renew a key's time to live.
const write = (nats: Nats["Service"], lease: Lease, expectedRevision: number): Effect.Effect<number, BusError> =>
  Effect.map(
    nats.write(`hold lease ${lease.key}`, {
      subject: subjectOf(lease),
      data: codec.encode({ holder: lease.holder }).data,
      headers: toHeaders([
        [header.ttl, timeToLive],
        [header.expectedLastSubjectSequence, String(expectedRevision)]
      ])
    }),
    ({ sequence }) => sequence
  )

const remove = (nats: Nats["Service"], lease: Lease, revision: number) =>
  nats
    .use(`give back lease ${lease.key}`, ({ manager }) =>
      manager.streams.getMessage("KV_leases", { last_by_subj: subjectOf(lease) })
    )
    .pipe(
      Effect.flatMap((current) =>
        current?.seq === revision
          ? nats.use(`give back lease ${lease.key}`, ({ manager }) =>
              manager.streams.purge("KV_leases", { filter: subjectOf(lease) })
            )
          : Effect.void
      )
    )
