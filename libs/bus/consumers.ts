/** Durable consumers on the broker: creating, removing and pausing them, and reading their backlogs. */
import { AckPolicy, type ConsumerConfig, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream"
import { nanos } from "@nats-io/nats-core"
import { Clock, Context, Effect, Layer } from "effect"
import { Nats } from "./connection/connection.ts"
import type { BusError } from "./errors.ts"

/**
 * A durable pull consumer as data. Acks are explicit. Deliveries have no count limit: the role counts attempts in the
 * message, where a crash cannot lose them. The broker never has more than `unackedMax` unacked at a time, over all
 * replicas of the role.
 */
export interface ConsumerDeclaration {
  readonly stream: string
  readonly durable: string
  readonly filterSubjects: ReadonlyArray<string>
  /** Concurrency over all replicas. */
  readonly unackedMax: number
  /** A message without a heartbeat for this long is delivered again, to any replica. */
  readonly ackWaitMs: number
}

export interface ConsumerBacklog {
  readonly pending: number
  readonly unacked: number
  /** Epoch milliseconds, or null when it is not paused. */
  readonly pausedUntilMs: number | null
}

export class Consumers extends Context.Service<
  Consumers,
  {
    /** Creates the consumer, or changes it to the declaration. */
    readonly ensure: (declaration: ConsumerDeclaration) => Effect.Effect<void, BusError>
    /** Removes the consumer; it may be absent. */
    readonly remove: (stream: string, durable: string) => Effect.Effect<void, BusError>
    /** The broker stops sending until then, and goes on by itself. */
    readonly pause: (stream: string, durable: string, untilMs: number) => Effect.Effect<void, BusError>
    readonly resume: (stream: string, durable: string) => Effect.Effect<void, BusError>
    readonly backlog: (stream: string, durable: string) => Effect.Effect<ConsumerBacklog, BusError>
    /** Names of the stream's durable consumers, at most 10,000. */
    readonly names: (stream: string) => Effect.Effect<ReadonlyArray<string>, BusError>
  }
>()("starling/bus/Consumers") {
  static readonly layer = Layer.effect(
    Consumers,
    Effect.gen(function* () {
      const nats = yield* Nats
      return Consumers.of({
        ensure: (declaration) => ensure(nats, declaration),
        remove: (stream, durable) =>
          nats
            .use(`remove consumer ${durable}`, ({ manager }) => manager.consumers.delete(stream, durable))
            .pipe(
              Effect.asVoid,
              Effect.catchTag("BusNotFound", () => Effect.void)
            ),
        pause: (stream, durable, untilMs) =>
          nats
            .use(`pause consumer ${durable}`, ({ manager }) =>
              manager.consumers.pause(stream, durable, new Date(untilMs))
            )
            .pipe(Effect.asVoid),
        resume: (stream, durable) =>
          nats
            .use(`resume consumer ${durable}`, ({ manager }) => manager.consumers.resume(stream, durable))
            .pipe(Effect.asVoid),
        backlog: (stream, durable) => readBacklog(nats, stream, durable),
        names: (stream) => readNames(nats, stream)
      })
    })
  )
}

// The code for an existing consumer that differs; a cluster also returns it for one that does not.
const existsAlready = 10148

const ensure = (nats: Nats["Service"], declaration: ConsumerDeclaration) => {
  const { stream, durable } = declaration
  const config = consumerConfig(declaration)
  return nats
    .use(`ensure consumer ${durable}`, ({ manager }) => manager.consumers.add(stream, config))
    .pipe(
      Effect.catchIf(
        (error) => error._tag === "BusRefused" && error.code === existsAlready,
        () => nats.use(`change consumer ${durable}`, ({ manager }) => manager.consumers.update(stream, durable, config))
      ),
      Effect.asVoid
    )
}

const readBacklog = Effect.fnUntraced(function* (nats: Nats["Service"], stream: string, durable: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const info = yield* nats.use(`read consumer ${durable}`, ({ manager }) => manager.consumers.info(stream, durable))
  const remainingMs = info.paused === true ? (info.pause_remaining ?? 0) / 1e6 : null
  return {
    pending: info.num_pending,
    unacked: info.num_ack_pending,
    pausedUntilMs: remainingMs === null ? null : Math.round(nowMs + remainingMs)
  }
})

// The configuration refuses more than ten thousand endpoints, so no list is longer.
const namesMax = 10_000

const readNames = (nats: Nats["Service"], stream: string) =>
  nats.use(`list consumers of ${stream}`, async ({ manager }) => {
    const names: Array<string> = []
    for await (const info of manager.consumers.list(stream)) {
      names.push(info.name)
      if (names.length >= namesMax) break
    }
    return names
  })

/** The broker's configuration of a declared consumer. */
const consumerConfig = (declaration: ConsumerDeclaration): ConsumerConfig => ({
  name: declaration.durable,
  durable_name: declaration.durable,
  filter_subjects: [...declaration.filterSubjects],
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  replay_policy: ReplayPolicy.Instant,
  ack_wait: nanos(declaration.ackWaitMs),
  max_ack_pending: declaration.unackedMax,
  max_deliver: -1
})
