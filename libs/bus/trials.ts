/**
 * A role's own trial of the broker, every few seconds: a small permitted write, read back, and a check of one more of
 * its streams. Together with failures met in real work they decide whether the role is ready.
 */
import { Clock, Effect, Option, Schedule } from "effect"
import { defineGauge, Health, Metrics, Role } from "#runtime"
import { Nats } from "./connection/connection.ts"
import { uses } from "./connection/outages.ts"
import { toHeaders } from "./message.ts"
import type { Topology } from "./topology/declarations.ts"

export const busUnusable = defineGauge({
  name: "bus_unusable_streams",
  help: "Streams, buckets and stores that the role cannot use though it is connected, by use: write, read, consume.",
  labels: ["use"]
})

/** Buckets that accept a trial; a role uses the first that it can write. All of them are written constantly. */
const triedBuckets: ReadonlyArray<string> = ["leases", "rate-windows", "speech-engines", "token-uses"]

// Two small writes a second across a fleet; a full disk shows within a few of them.
const every = "5 seconds"
// Below every bucket's limit, and every few writes need another page of the disk.
const trialBytes = 512

/** Until the scope ends. `part`: what the role uses. */
export const tryBroker = Effect.fnUntraced(function* (part: Topology) {
  const { outages } = yield* Nats
  const role = yield* Role
  const now = Effect.map(Clock.currentTimeMillis, outages.at)
  yield* (yield* Health).readiness(
    `streams ${role}`,
    Effect.flatMap(now, ([first, ...others]) =>
      first === undefined ? Effect.void : Effect.fail(reasonOf(first, others.length))
    )
  )
  const gauge = (yield* Metrics).gauge(busUnusable)
  const show = Effect.map(now, (all) => {
    for (const use of uses) gauge.set({ use }, all.filter((each) => each.use === use).length)
  })
  const written = new Set(
    part.buckets.filter(({ writers }) => writers.some((one) => one === role)).map(({ name }) => name)
  )
  const own = triedBuckets.filter((name) => written.has(name)).slice(0, 1)
  const looked = everyNameIn(part)
  let turn = 0
  const trial = Effect.suspend(() => {
    const failing = outages.failing()
    const again = failing.flatMap(({ use, stream }) =>
      use === "write" && stream.startsWith("KV_") ? [stream.slice(3)] : []
    )
    const unread = failing.flatMap(({ use, stream }) => (use === "read" ? [stream] : []))
    const next = looked.slice(turn % looked.length).slice(0, 1)
    turn += 1
    const writes = new Set([...own, ...again.filter((name) => written.has(name))])
    return Effect.all(
      [
        Effect.forEach(writes, (bucket) => writeAndRead(bucket, role), { concurrency: "unbounded", discard: true }),
        Effect.forEach(new Set([...next, ...unread]), lookAt, { concurrency: "unbounded", discard: true })
      ],
      { concurrency: 2, discard: true }
    )
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.andThen(trial, show), Schedule.spaced(every)))
})

const reasonOf = ({ use, stream, reason }: { use: string; stream: string; reason: string }, more: number) =>
  `cannot ${use} ${stream}: ${reason}${more === 0 ? "" : `; and ${more} more`}`

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

/** A rarely used stream could be gone long before the role notices. */
const lookAt = Effect.fnUntraced(function* (name: string) {
  const nats = yield* Nats
  const sinceMs = yield* Clock.currentTimeMillis
  yield* nats
    .use(`look at ${name}`, ({ manager }) => manager.streams.info(name))
    .pipe(
      Effect.match({
        onSuccess: () => nats.outages.worked("read", name),
        onFailure: (error) => nats.missed("read", name, error, sinceMs)
      })
    )
})
