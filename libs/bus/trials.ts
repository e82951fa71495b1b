/**
 * A role's own trial of the broker, every few seconds: a small permitted write, read back, and a look at half of its
 * streams. Together with failures met in real work they decide whether the role is ready.
 */
import { Clock, Effect, Option, Result } from "effect"
import { check, defineGauge, Metrics, Role } from "#runtime"
import { Nats } from "./connection/connection.ts"
import { type Outage, uses } from "./connection/outages.ts"
import { toHeaders } from "./message.ts"
import type { Topology } from "./topology/declarations.ts"

export const busUnusable = defineGauge({
  name: "bus_unusable_streams",
  help: "Streams, buckets and stores that the role cannot use though it is connected, by use: write, read, consume.",
  labels: ["use"]
})

export const clockSkew = defineGauge({
  name: "clock_skew_seconds",
  help: "How far the process's clock is ahead of the broker's (behind it: negative), beyond what the way of a message explains.",
  labels: []
})

/** Buckets that accept a trial; a role uses the first that it can write. All of them are written constantly. */
const triedBuckets: ReadonlyArray<string> = ["leases", "rate-windows", "speech-engines", "token-uses"]

// Two small writes a second across a fleet; a full disk shows within a few of them.
const pauseMs = 5_000
// Below every bucket's limit, and every few writes need another page of the disk.
const trialBytes = 512
const looksAtOnce = 8
// Half of the six seconds before its end from which a payment is refused: with a clock that is later than this, one
// could be served that the chain no longer takes. Receivers of webhooks allow five minutes, payers' wallets one.
const skewMsMax = 3_000
const isMissing = /no stream takes this subject|stream not found/u
const whoMakesIt = "; `up`, `starling broker streams --keep` or NACK makes it again, whichever keeps the streams here"

/** Until the scope ends. `part`: what the role uses. */
export const tryBroker = Effect.fnUntraced(function* (part: Topology) {
  const { outages } = yield* Nats
  const role = yield* Role
  const gauge = (yield* Metrics).gauge(busUnusable)
  const judge = Effect.gen(function* () {
    const [first, ...others] = outages.at(yield* Clock.currentTimeMillis)
    const all = first === undefined ? [] : [first, ...others]
    for (const use of uses) gauge.set({ use }, all.filter((each) => each.use === use).length)
    if (first !== undefined) return yield* Effect.fail(reasonOf(first, others.length))
  })
  const written = new Set(
    part.buckets.filter(({ writers }) => writers.some((one) => one === role)).map(({ name }) => name)
  )
  const own = triedBuckets.filter((name) => written.has(name)).slice(0, 1)
  let skewMs = 0
  const skewed = (yield* Metrics).gauge(clockSkew)
  const compare = (trip: Trip) => {
    skewMs = skewOf(trip)
    skewed.set({}, skewMs / 1_000)
  }
  const looked = everyNameIn(part)
  let isFirstHalf = true
  const trial = Effect.suspend(() => {
    const failing = outages.failing()
    const again = failing.flatMap(({ use, stream }) =>
      use === "write" && stream.startsWith("KV_") ? [stream.slice(3)] : []
    )
    const unread = failing.flatMap(({ use, stream }) => (use === "read" ? [stream] : []))
    const next = looked.filter((_, index) => (index % 2 === 0) === isFirstHalf)
    isFirstHalf = !isFirstHalf
    const writes = new Set([...own, ...again.filter((name) => written.has(name))])
    return Effect.all(
      [
        Effect.forEach(writes, (bucket) => writeAndRead(bucket, role), { concurrency: "unbounded", discard: true }),
        Effect.forEach(new Set([...next, ...unread]), (name) => lookAt(name, compare), {
          concurrency: looksAtOnce,
          discard: true
        })
      ],
      { concurrency: 2, discard: true }
    )
  })
  yield* check({ name: "streams", isNeeded: true, run: Effect.andThen(trial, judge), pauseMs: () => pauseMs })
  // All replicas have it where the broker's clock is wrong.
  yield* check({ name: "clock", run: Effect.suspend(() => faultOfSkew(skewMs)), pauseMs: () => pauseMs })
})

/** A question to the broker. */
interface Trip {
  readonly askedMs: number
  /** By the broker's clock. */
  readonly answeredMs: number
  readonly readMs: number
}

/** Pure, as `clockSkew` says. */
export const skewOf = ({ askedMs, answeredMs, readMs }: Trip): number =>
  answeredMs < askedMs ? askedMs - answeredMs : Math.min(0, readMs - answeredMs)

const faultOfSkew = (skewMs: number) => {
  if (Math.abs(skewMs) <= skewMsMax) return Effect.void
  const seconds = Math.round(Math.abs(skewMs) / 1_000)
  return Effect.fail(`this clock is ${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the broker's`)
}

const reasonOf = ({ use, stream, reason }: Outage, more: number) =>
  `cannot ${use} ${stream}: ${reason}${isMissing.test(reason) ? whoMakesIt : ""}${more === 0 ? "" : `; and ${more} more`}`

const everyNameIn = ({ streams, buckets, objectStores }: Topology) => [
  ...streams.map(({ name }) => name),
  ...buckets.map(({ name }) => `KV_${name}`),
  ...objectStores.map(({ name }) => `OBJ_${name}`)
]

/** The marker of a removed key, which every reader of a bucket skips. */
const writeAndRead = Effect.fnUntraced(function* (bucket: string, role: string) {
  const nats = yield* Nats
  const subject = `$KV.${bucket}.trial-${role}`
  const marker = { subject, data: new Uint8Array(trialBytes), headers: toHeaders([["KV-Operation", "DEL"]]) }
  const stored = yield* Effect.option(nats.write(`try ${bucket}`, marker))
  if (Option.isNone(stored)) return
  const sinceMs = yield* Clock.currentTimeMillis
  yield* nats.last(`KV_${bucket}`, subject).pipe(
    Effect.match({
      onSuccess: () => nats.outages.worked("read", `KV_${bucket}`),
      onFailure: (error) => nats.missed("read", `KV_${bucket}`, error, sinceMs)
    })
  )
})

/** In the answer, but not in the client library's type. */
type Timed = { readonly ts?: string }

/** A rarely used stream could be gone long before a role notices, which in most fleets may not make it again itself. */
const lookAt = Effect.fnUntraced(function* (name: string, compare: (trip: Trip) => void) {
  const nats = yield* Nats
  const askedMs = yield* Clock.currentTimeMillis
  const found = yield* Effect.result(nats.use(`look at ${name}`, ({ manager }) => manager.streams.info(name)))
  if (Result.isFailure(found)) return nats.missed("read", name, found.failure, askedMs)
  nats.outages.worked("read", name)
  const answeredMs = Date.parse((found.success as Timed).ts ?? "")
  if (!Number.isNaN(answeredMs)) compare({ askedMs, answeredMs, readMs: yield* Clock.currentTimeMillis })
})
