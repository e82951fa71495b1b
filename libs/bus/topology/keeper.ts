/**
 * Keeps the declared topology on a broker: a stream, bucket or store that disappears while the fleet runs is recreated,
 * and so is a consumer that belongs to it. A killed broker forgets what it had in memory; a mistake by hand or a broken
 * disk can destroy the rest.
 *
 * Data on disk is lost then. The replacing stream records that in its own metadata, for the doctor, and its sequences
 * begin beyond all earlier ones: a reader that follows the stream by sequence would wait forever on one that begins at
 * 1.
 */
import { Clock, Effect, Result } from "effect"
import { isoTime } from "#base"
import { Nats } from "../connection/connection.ts"
import { reportTrouble } from "../connection/dial.ts"
import { type ConsumerDeclaration, makeConsumer } from "../consumers.ts"
import { configsOf, type Wanted } from "./apply.ts"
import type { Topology } from "./declarations.ts"
import { readyConsumersOf } from "./topology.ts"

/** The metadata key that records when a stream replaced a lost one. */
export const lostAtKey = "starling.lost-at"

// One short request; a role that misses a stream retries for longer.
const lookEvery = "1 second"

interface KeepOptions {
  readonly topology: Topology
  readonly replicas: number
}

/** Needs a connection with the right to create streams, and applied streams. Runs forever. */
export const keepTopology = Effect.fn("keepTopology")(function* ({ topology, replicas }: KeepOptions) {
  const wanted = configsOf(topology, replicas)
  const consumers = readyConsumersOf(topology)
  const nats = yield* Nats
  const say = reportTrouble("the broker's streams cannot be looked after", undefined)
  const look = Effect.gen(function* () {
    const present = yield* presentStreams
    const missing = wanted.filter(({ name }) => !present.has(name))
    // What cannot be made now does not keep the rest away.
    const made = yield* Effect.forEach([...missing.map(makeAgain), ...consumers.map(keepConsumer)], Effect.result)
    const failures = made.flatMap((one) => (Result.isFailure(one) ? [one.failure.message] : []))
    if (failures.length > 0) yield* say(failures.join("; "))
  }).pipe(Effect.catch((error) => say(error.message)))
  // After a broken connection at once: the calls wait for the next one.
  return yield* Effect.forever(Effect.andThen(look, Effect.raceFirst(Effect.sleep(lookEvery), nats.lost)))
})

const presentStreams = Effect.gen(function* () {
  const nats = yield* Nats
  return yield* nats.use("list the streams", async ({ manager }) => {
    const names = new Set<string>()
    for await (const name of manager.streams.names()) names.add(name)
    return names
  })
})

const makeAgain = Effect.fnUntraced(function* (config: Wanted) {
  const nats = yield* Nats
  const nowMs = yield* Clock.currentTimeMillis
  const isLost = config.storage === "file"
  yield* nats
    .use(`make stream ${config.name} again`, ({ manager }) =>
      manager.streams.add(isLost ? replacing(config, nowMs) : config)
    )
    .pipe(
      Effect.andThen(
        isLost
          ? Effect.logError("a stream was lost with all that lay in it, and is made again, empty")
          : Effect.logWarning("an in-memory stream was missing and is recreated")
      ),
      // Another keeper of the streams was first.
      Effect.catchIf(
        (error) => error._tag === "BusRefused" && error.code === existsAlready,
        () => Effect.void
      ),
      Effect.annotateLogs({ stream: config.name })
    )
})

const keepConsumer = Effect.fnUntraced(function* (consumer: ConsumerDeclaration) {
  const { stream, durable } = consumer
  const nats = yield* Nats
  yield* nats
    .use(`look for consumer ${durable}`, ({ manager }) => manager.consumers.info(stream, durable))
    .pipe(
      Effect.catchTag("BusNotFound", () =>
        Effect.andThen(
          makeConsumer(nats, consumer),
          Effect.annotateLogs(Effect.logWarning("a consumer was missing and is recreated"), {
            stream,
            consumer: durable
          })
        )
      )
    )
})

// Differs in its configuration: its first sequence, and its mark.
const existsAlready = 10_058

/** Milliseconds since 1970 exceed every sequence of a stream that ever stored fewer than a thousand a second. */
const replacing = (config: Wanted, nowMs: number): Wanted => ({
  ...config,
  first_seq: nowMs,
  metadata: { [lostAtKey]: isoTime(nowMs) }
})

/** Clears the loss mark from all streams, and returns the names of those that had it. */
export const acceptLosses = Effect.fn("acceptLosses")(function* (topology: Topology) {
  const nats = yield* Nats
  const marked = yield* Effect.forEach(configsOf(topology, 1), ({ name }) =>
    nats.use(`accept the loss of ${name}`, async ({ manager }) => {
      const { [lostAtKey]: lostAt, ...metadata } = (await manager.streams.info(name)).config.metadata ?? {}
      if (lostAt === undefined) return []
      await manager.streams.update(name, { metadata })
      return [name]
    })
  )
  return marked.flat()
})
