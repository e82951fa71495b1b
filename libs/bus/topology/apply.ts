/**
 * Brings the declared topology to the broker. `create` creates what is missing and updates what can change; `verify`
 * changes nothing and fails with every difference, so that a deployment whose streams have another owner reports
 * exactly what is wrong with them. More subjects and more room than declared are not differences there.
 */
import type { ConsumerConfig, StreamConfig, StreamInfo } from "@nats-io/jetstream"
import { nanos } from "@nats-io/nats-core"
import { Effect, Result, Schema } from "effect"
import { defineGauge, Health, Metrics, Role } from "#runtime"
import { Nats } from "../connection/connection.ts"
import { reportTrouble } from "../connection/dial.ts"
import { type ConsumerDeclaration, consumerDifferences, makeConsumer } from "../consumers.ts"
import { type BusError, BusRefused, StreamFull } from "../errors.ts"
import {
  type BucketDeclaration,
  type ObjectStoreDeclaration,
  storedPrefix,
  type StreamDeclaration,
  type Topology
} from "./declarations.ts"
import { readyConsumersOf } from "./topology.ts"

export const topologyDifferences = defineGauge({
  name: "bus_topology_differences",
  help: "What of the streams that the role uses is not as declared; it waits until this is 0. Only where they are somebody else's.",
  labels: []
})

/** The broker's streams differ from those that the fleet was built for. `differences` lists each. */
export class TopologyMismatch extends Schema.TaggedError<TopologyMismatch>()("TopologyMismatch", {
  differences: Schema.Array(Schema.String)
}) {
  override get message() {
    return `the broker's streams are not as declared:\n${this.differences.map((line) => `  - ${line}`).join("\n")}`
  }
}

/** The oldest server whose sub-second message schedules do not drift. */
const serverVersionMin = "2.14.3"

// Both sides handle several in one go, in two thirds of the processor time of one by one.
const requestsAtOnce = 8

interface ApplyOptions {
  readonly mode: "create" | "verify"
  readonly replicas: number
}

export const applyTopology = Effect.fn("applyTopology")(function* (topology: Topology, options: ApplyOptions) {
  const nats = yield* Nats
  const version = nats.connection.info?.version ?? "0.0.0"
  const differences: Array<string> = []
  if (!isAtLeast(version, serverVersionMin)) {
    differences.push(`nats-server is ${version}, ${serverVersionMin} or later is needed`)
  }
  const wanted = configsOf(topology, options.replicas)
  const isEmpty = options.mode === "create" && (yield* hasNoStreams)
  const applied = yield* Effect.forEach(
    wanted,
    Effect.fnUntraced(function* (config) {
      const current = isEmpty ? undefined : yield* currentConfig(config.name)
      if (options.mode === "verify") return differencesOf(config, current, servesToo)
      yield* Effect.mapError(createOrUpdate(config, current), (error) => withRoomNeeded(error, wanted))
      return []
    }),
    { concurrency: requestsAtOnce }
  )
  differences.push(...applied.flat())
  for (const consumer of readyConsumersOf(topology)) {
    if (options.mode === "create") yield* makeConsumer(nats, consumer)
    else differences.push(...(yield* consumerFaults(consumer)))
  }
  if (differences.length > 0) return yield* new TopologyMismatch({ differences })
})

/** What the streams of a running broker do not match, one readable line each; more room than declared is no fault. */
export const streamDifferences = Effect.fn("streamDifferences")(function* (topology: Topology, replicas: number) {
  const found = yield* Effect.forEach(
    configsOf(topology, replicas),
    (config) => Effect.map(currentConfig(config.name), (current) => differencesOf(config, current, servesToo)),
    { concurrency: requestsAtOnce }
  )
  return found.flat()
})

/** A new broker: every declared stream is missing. */
const hasNoStreams = Effect.gen(function* () {
  const { streams } = yield* (yield* Nats).use("count the streams", ({ manager }) => manager.getAccountInfo())
  return streams === 0
})

export type Wanted = Partial<StreamConfig> & { readonly name: string }

/** The broker's configuration of everything declared. */
export const configsOf = (topology: Topology, replicas: number): ReadonlyArray<Wanted> => [
  ...topology.streams.map((stream) => streamConfig(stream, replicas)),
  ...topology.buckets.map((bucket) => bucketConfig(bucket, replicas)),
  ...topology.objectStores.map((store) => objectStoreConfig(store, replicas))
]

/** The bytes that streams of `storage` reserve by their limits, on a server that has a copy of each. */
export const reservedBytes = (wanted: ReadonlyArray<Wanted>, storage: "file" | "memory"): number =>
  wanted
    .filter((config) => (config.storage ?? "file") === storage)
    .reduce((sum, config) => sum + Math.max(0, config.max_bytes ?? 0), 0)

/** A server creates a stream only if its full byte limit fits beside those of the others, used or not. */
const withRoomNeeded = (error: BusError, wanted: ReadonlyArray<Wanted>): BusError => {
  const { operation } = error
  if (!/\binsufficient\b/iu.test(error.detail)) return error
  const [disk, memory] = [reservedBytes(wanted, "file"), reservedBytes(wanted, "memory")].map(
    (bytes) => `${Math.ceil(bytes / mib)} MiB`
  )
  const need = `the limits of all streams reserve ${disk} of file storage and ${memory} of memory, whatever lies in them`
  const detail = `${error.detail}; ${need}: raise max_file_store and max_memory_store in the server's jetstream section`
  if (error._tag === "StreamFull") return new StreamFull({ operation, detail })
  return error._tag === "BusRefused" ? new BusRefused({ operation, detail, code: error.code }) : error
}

const mib = 1_024 ** 2

const currentConfig = Effect.fnUntraced(function* (name: string) {
  const nats = yield* Nats
  return yield* nats
    .use(`read stream ${name}`, ({ manager }) => manager.streams.info(name))
    .pipe(
      Effect.map((info: StreamInfo): StreamConfig | undefined => info.config),
      Effect.catchTag("BusNotFound", () => Effect.succeed(undefined))
    )
})

const createOrUpdate = Effect.fnUntraced(function* (
  config: Wanted,
  current: StreamConfig | undefined
): Effect.fn.Return<void, BusError, Nats> {
  const nats = yield* Nats
  if (current === undefined) {
    // On a busy disk one can take longer than a call waits; creating it twice gives the same result.
    yield* nats
      .use(`create stream ${config.name}`, ({ manager }) => manager.streams.add(config))
      .pipe(Effect.retry({ times: 3, while: (error) => error._tag === "BusUnavailable" }))
    yield* Effect.logDebug("stream created").pipe(Effect.annotateLogs({ stream: config.name }))
    return
  }
  if (differencesOf(config, current).length === 0) return
  yield* nats.use(`update stream ${config.name}`, ({ manager }) => manager.streams.update(config.name, config))
  yield* Effect.logInfo("stream updated").pipe(Effect.annotateLogs({ stream: config.name }))
})

/**
 * Another release's consumer works too: with any limit, because a role takes no more than it handles, and with a longer
 * redelivery time.
 */
const consumerFaults = Effect.fnUntraced(function* (consumer: ConsumerDeclaration) {
  const { stream, durable } = consumer
  const current = yield* (yield* Nats)
    .use(`read consumer ${durable}`, ({ manager }) => manager.consumers.info(stream, durable))
    .pipe(
      Effect.map(({ config }): ConsumerConfig | undefined => config),
      Effect.catchTag("BusNotFound", () => Effect.succeed(undefined))
    )
  const { max_ack_pending: unackedMax = 0, ack_wait: ackWait = 0 } = current ?? {}
  const ackWaitMs = Math.max(consumer.ackWaitMs, ackWait / 1e6)
  return consumerDifferences({ ...consumer, unackedMax, ackWaitMs }, current)
})

type Judge = (key: string, wanted: unknown, has: unknown) => boolean

const isEqual: Judge = (_, wanted, has) => JSON.stringify(has ?? false) === JSON.stringify(wanted)

const noLimit = -1
const roomKeys = new Set(["max_bytes", "max_msg_size"])

/**
 * A later release's stream, with more subjects or more room, works for this one too: a role that is rolled back starts.
 */
const servesToo: Judge = (key, wanted, has) => {
  if (isEqual(key, wanted, has)) return true
  if (key === "subjects" && Array.isArray(wanted) && Array.isArray(has))
    return wanted.every((subject) => has.includes(subject))
  if (!roomKeys.has(key) || typeof wanted !== "number" || typeof has !== "number") return false
  return has === noLimit || (wanted !== noLimit && has > wanted)
}

/** The parts of `wanted` that the broker's configuration does not match, one readable line each. */
const differencesOf = (
  wanted: Wanted,
  current: StreamConfig | undefined,
  holds: Judge = isEqual
): ReadonlyArray<string> => {
  if (current === undefined) return [`stream ${wanted.name} does not exist`]
  return Object.entries(wanted).flatMap(([key, value]) => {
    const has = current[key as keyof StreamConfig]
    return holds(key, value, has)
      ? []
      : [`stream ${wanted.name}: ${key} is ${JSON.stringify(has)}, declared ${JSON.stringify(value)}`]
  })
}

/** The broker's configuration of a declared stream. */
export const streamConfig = (stream: StreamDeclaration, replicas: number): Wanted => ({
  name: stream.name,
  subjects: [...stream.subjects],
  retention: stream.retention,
  storage: stream.storage,
  discard: stream.discard,
  num_replicas: replicas,
  max_age: stream.ageMsMax === null ? 0 : nanos(stream.ageMsMax),
  max_bytes: stream.bytesMax ?? -1,
  // Named, so that a limit that somebody sets by hand is a difference.
  max_msgs: -1,
  max_msgs_per_subject: -1,
  max_msg_size: stream.messageBytesMax ?? -1,
  allow_direct: stream.features.includes("direct reads"),
  allow_atomic: stream.features.includes("atomic batches"),
  allow_msg_schedules: stream.features.includes("schedules"),
  allow_rollup_hdrs: stream.features.includes("rollup") || stream.features.includes("schedules"),
  ...(stream.features.includes("message ages") ? { allow_msg_ttl: true } : {}),
  ...(stream.features.includes("announced") ? announced : {})
})

/** Each stored message is also sent to those who follow the stream. */
const announced = { republish: { src: ">", dest: `${storedPrefix}>` } }

/** The broker's configuration of the stream behind a key-value bucket. */
export const bucketConfig = (bucket: BucketDeclaration, replicas: number): Wanted => ({
  name: `KV_${bucket.name}`,
  subjects: [`$KV.${bucket.name}.>`],
  retention: "limits",
  storage: "file",
  discard: "new",
  num_replicas: replicas,
  max_age: bucket.ttlMs === null ? 0 : nanos(bucket.ttlMs),
  max_msgs_per_subject: 1,
  max_msg_size: bucket.valueBytesMax,
  // Its pages are read from any replica; a single key that the leader must answer is requested differently.
  allow_direct: true,
  allow_rollup_hdrs: true,
  deny_delete: true,
  allow_msg_ttl: bucket.keyTtl,
  ...(bucket.isFollowed === true ? announced : {})
})

/** The broker's configuration of the stream behind an object store. */
export const objectStoreConfig = (store: ObjectStoreDeclaration, replicas: number): Wanted => ({
  name: `OBJ_${store.name}`,
  subjects: [`$O.${store.name}.C.>`, `$O.${store.name}.M.>`],
  retention: "limits",
  storage: "file",
  discard: "new",
  num_replicas: replicas,
  max_age: store.ttlMs === null ? 0 : nanos(store.ttlMs),
  max_bytes: store.bytesMax ?? -1,
  allow_direct: true,
  allow_rollup_hdrs: true
})

const isAtLeast = (version: string, minimum: string) => {
  const [have, need] = [version, minimum].map((text) => text.split(/[.-]/u).slice(0, 3).map(Number))
  for (const index of [0, 1, 2]) {
    const difference = (have?.[index] ?? 0) - (need?.[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

// About thirty short requests each time; an operator who repairs a stream waits this long for the next check.
const lookAgainAfter = "3 seconds"

/**
 * Waits until streams with another owner match the declarations. Meanwhile the role is alive, not ready, and reports
 * the differences. Roles can thus start before their streams, and the next release waits while the previous one serves.
 */
export const awaitTopology = Effect.fn("awaitTopology")(function* (wanted: Topology, replicas: number) {
  const differing = (yield* Metrics).gauge(topologyDifferences)
  let trouble: string | undefined = "the broker's streams were not checked yet"
  yield* (yield* Health).readiness(
    `topology ${yield* Role}`,
    Effect.suspend(() => (trouble === undefined ? Effect.void : Effect.fail(trouble)))
  )
  const say = reportTrouble("waiting for the broker's streams", (reason) => void (trouble = reason))
  while (true) {
    const looked = yield* Effect.result(applyTopology(wanted, { mode: "verify", replicas }))
    if (Result.isSuccess(looked)) break
    const { failure } = looked
    if (failure._tag === "TopologyMismatch") differing.set({}, failure.differences.length)
    yield* say(failure.message)
    yield* Effect.sleep(lookAgainAfter)
  }
  trouble = undefined
  differing.set({}, 0)
})
