/** Durable consumers on the broker: creating, removing and pausing them, and reading their backlogs. */
import { AckPolicy, type ConsumerConfig, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream"
import { nanos } from "@nats-io/nats-core"
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { Count, Timestamp } from "#base"
import { Nats } from "./connection/connection.ts"
import { type BusError, BusNotFound, BusRefused, fromApiError } from "./errors.ts"
import { jsonCodec } from "./message.ts"

/**
 * A durable pull consumer as data. Acks are explicit. Deliveries have no count limit: the role counts attempts in the
 * message, where a crash cannot lose them. The broker keeps at most `unackedMax` messages unacked at a time, over all
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
  /** Created together with its stream; a reader that takes from it has no right to create it. */
  readonly isReady?: true
}

export interface ConsumerBacklog {
  readonly pending: number
  readonly unacked: number
  /** The stream sequence up to which all of the consumer's messages are acked. */
  readonly ackFloor: number
  /** Epoch milliseconds, or null when it is not paused. */
  readonly pausedUntilMs: number | null
}

/** A consumer's progress in its stream, durable or not. Times in epoch milliseconds. */
export interface ConsumerFigures {
  readonly name: string
  readonly isDurable: boolean
  readonly filterSubjects: ReadonlyArray<string>
  /** Not delivered yet. */
  readonly pending: number
  /** Delivered and not acked. */
  readonly unacked: number
  /** Unacked messages that were delivered more than once. */
  readonly redelivered: number
  /** Pull requests waiting at the broker: 0 when there is no reader. */
  readonly waiting: number
  readonly isPaused: boolean
  readonly lastDeliveredAtMs: number | null
}

export interface ConsumerPage {
  readonly total: number
  /** By name, from the requested offset; at most 256. */
  readonly consumers: ReadonlyArray<ConsumerFigures>
}

export class Consumers extends Context.Service<
  Consumers,
  {
    /** Creates the consumer, or updates it to the declaration. One created with its stream is only checked for. */
    readonly ensure: (declaration: ConsumerDeclaration) => Effect.Effect<void, BusError>
    /** Removes the consumer, if it exists. */
    readonly remove: (stream: string, durable: string) => Effect.Effect<void, BusError>
    /** The broker stops delivering until then, and resumes by itself. */
    readonly pause: (stream: string, durable: string, untilMs: number) => Effect.Effect<void, BusError>
    readonly resume: (stream: string, durable: string) => Effect.Effect<void, BusError>
    readonly backlog: (stream: string, durable: string) => Effect.Effect<ConsumerBacklog, BusError>
    /** The figures of a stream's consumers, starting at `offset`. */
    readonly page: (stream: string, offset: number) => Effect.Effect<ConsumerPage, BusError>
    /** Names of the stream's durable consumers, at most 10,000. */
    readonly names: (stream: string) => Effect.Effect<ReadonlyArray<string>, BusError>
  }
>()("starling/bus/Consumers") {
  static readonly layer = Layer.effect(
    Consumers,
    Effect.gen(function* () {
      const nats = yield* Nats
      return Consumers.of({
        ensure: (declaration) =>
          declaration.isReady === true ? lookFor(nats, declaration) : makeConsumer(nats, declaration),
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
        page: (stream, offset) => readConsumers(nats, stream, offset),
        names: (stream) => readNames(nats, stream)
      })
    })
  )
}

// The code for an existing consumer that differs; a cluster also returns it for an identical one.
const existsAlready = 10148

/** Creates it, or updates it to the declaration. */
export const makeConsumer = (nats: Nats["Service"], declaration: ConsumerDeclaration) => {
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

const lookFor = Effect.fnUntraced(function* (nats: Nats["Service"], { stream, durable }: ConsumerDeclaration) {
  const sinceMs = yield* Clock.currentTimeMillis
  yield* nats
    .use(`look for consumer ${durable}`, ({ manager }) => manager.consumers.info(stream, durable))
    .pipe(
      Effect.catchTag("BusNotFound", ({ operation, detail }) =>
        Effect.fail(
          new BusNotFound({
            operation,
            detail: `${detail}; who makes the stream ${stream} makes its consumer ${durable} too`
          })
        )
      ),
      Effect.tapError((error) => Effect.sync(() => nats.missed("consume", stream, error, sinceMs)))
    )
})

/** The parts of the declaration that a broker's consumer does not match, one readable line each. */
export const consumerDifferences = (
  declaration: ConsumerDeclaration,
  current: Partial<ConsumerConfig> | undefined
): ReadonlyArray<string> => {
  const { stream, durable } = declaration
  if (current === undefined) return [`consumer ${durable} of ${stream} does not exist`]
  const filters = filtersOf(current)
  // Without a filter it gets the entire stream.
  const has = { ...current, filter_subjects: filters.length === 0 ? declaration.filterSubjects : filters }
  return Object.entries(consumerConfig(declaration)).flatMap(([key, value]) => {
    const now = has[key as keyof ConsumerConfig]
    return JSON.stringify(now) === JSON.stringify(value)
      ? []
      : [`consumer ${durable} of ${stream}: ${key} is ${JSON.stringify(now)}, declared ${JSON.stringify(value)}`]
  })
}

const readBacklog = Effect.fnUntraced(function* (nats: Nats["Service"], stream: string, durable: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const info = yield* nats.use(`read consumer ${durable}`, ({ manager }) => manager.consumers.info(stream, durable))
  const remainingMs = info.paused === true ? (info.pause_remaining ?? 0) / 1e6 : null
  return {
    pending: info.num_pending,
    unacked: info.num_ack_pending,
    ackFloor: info.ack_floor.stream_seq,
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

// The client library can list only from the first consumer.
const readConsumers = Effect.fnUntraced(function* (nats: Nats["Service"], stream: string, offset: number) {
  const operation = `list consumers of ${stream}`
  const answer = yield* nats.use(operation, ({ connection }) =>
    connection.request(`$JS.API.CONSUMER.LIST.${stream}`, JSON.stringify({ offset }), { timeout: listWithinMs })
  )
  const decoded = decodeList(answer)
  if (Result.isFailure(decoded)) {
    return yield* new BusRefused({ operation, detail: `cannot be read: ${JSON.stringify(decoded.failure)}`, code: 0 })
  }
  const { error, total = 0, consumers } = decoded.success
  if (error !== undefined) return yield* fromApiError(operation, error.err_code, error.code, error.description)
  const page: ConsumerPage = { total, consumers: (consumers ?? []).map(figuresOf) }
  return page
})

const listWithinMs = 5_000

const Texts = Schema.Array(Schema.String)
const Figures = Schema.Struct({
  name: Schema.String,
  config: Schema.Struct({
    durable_name: Schema.optionalKey(Schema.String),
    filter_subject: Schema.optionalKey(Schema.String),
    filter_subjects: Schema.optionalKey(Schema.NullOr(Texts))
  }),
  delivered: Schema.Struct({ last_active: Schema.optionalKey(Timestamp) }),
  num_pending: Count,
  num_ack_pending: Count,
  num_redelivered: Count,
  num_waiting: Count,
  paused: Schema.optionalKey(Schema.Boolean)
})
const ApiError = Schema.Struct({ code: Schema.Int, err_code: Schema.Int, description: Schema.String })
const List = Schema.Struct({
  error: Schema.optionalKey(ApiError),
  total: Schema.optionalKey(Count),
  consumers: Schema.optionalKey(Schema.NullOr(Schema.Array(Figures)))
})
const listCodec = jsonCodec(List)
const decodeList = ({ data }: { readonly data: Uint8Array }) => listCodec.decode({ data, header: () => undefined })

const figuresOf = ({ name, config, delivered, ...counts }: (typeof Figures)["Type"]): ConsumerFigures => ({
  name,
  isDurable: config.durable_name !== undefined,
  filterSubjects: filtersOf(config),
  pending: counts.num_pending,
  unacked: counts.num_ack_pending,
  redelivered: counts.num_redelivered,
  waiting: counts.num_waiting,
  isPaused: counts.paused === true,
  lastDeliveredAtMs: delivered.last_active === undefined ? null : Date.parse(delivered.last_active)
})

/** The broker reports a single filter in another field than several. */
const filtersOf = (config: {
  readonly filter_subject?: string | undefined
  readonly filter_subjects?: ReadonlyArray<string> | null | undefined
}) => config.filter_subjects ?? (config.filter_subject === undefined ? [] : [config.filter_subject])

/** The broker's configuration of a declared consumer. */
export const consumerConfig = (declaration: ConsumerDeclaration): ConsumerConfig => ({
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
