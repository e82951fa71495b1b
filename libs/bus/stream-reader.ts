/** Reads streams without consuming: ranges for history and redrive, counts per subject for backlogs. */
import type { StreamInfo } from "@nats-io/jetstream"
import { millis } from "@nats-io/nats-core"
import { Context, Effect, Layer, Option, Stream } from "effect"
import type { BusError } from "./errors.ts"
import { headerReader } from "./message.ts"
import { Nats } from "./connection/connection.ts"
import { type BatchOptions, readInOrder, takeBatch } from "./ordered-reader.ts"
import { pageMessagesMax, readPage, type SourceMessage } from "./pages.ts"
import { lostAtKey } from "./topology/keeper.ts"

export interface StreamBounds {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly messages: number
}

/** A stream's size and bounds. Bytes and epoch milliseconds. */
export interface StreamFigures {
  readonly messages: number
  readonly bytes: number
  /** Null without a limit. */
  readonly bytesMax: number | null
  readonly ageMsMax: number | null
  /** Null for an empty stream. */
  readonly firstAtMs: number | null
  readonly lastAtMs: number | null
  readonly consumers: number
  /** The leading server; null with a single server, and while a leader is elected. */
  readonly leader: string | null
  readonly replicas: number
  /** The servers that are away or whose copy lags. */
  readonly replicasBehind: ReadonlyArray<string>
  /** When it replaced a stream that was lost with all its content. */
  readonly lostAt: string | undefined
}

export interface RangeOptions {
  readonly fromSequence: number
  /** Stop after this sequence. */
  readonly toSequence: number
  readonly subject?: string
}

export interface NewestOptions {
  /** Only messages before this sequence. */
  readonly before: number
  readonly subject?: string
  readonly messagesMax: number
}

export class StreamReader extends Context.Service<
  StreamReader,
  {
    readonly bounds: (stream: string) => Effect.Effect<StreamBounds, BusError>
    readonly figures: (stream: string) => Effect.Effect<StreamFigures, BusError>
    /** Messages per subject, at most 100,000 subjects (the broker's own limit). */
    readonly countBySubject: (
      stream: string,
      filter: string
    ) => Effect.Effect<Readonly<Record<string, number>>, BusError>
    /** The first message at or after a sequence, on a subject if one is given. */
    readonly next: (
      stream: string,
      fromSequence: number,
      subject?: string
    ) => Effect.Effect<Option.Option<SourceMessage>, BusError>
    /** The sequence of the first message stored at or after a time; one past the end when there is none. */
    readonly firstAt: (stream: string, epochMs: number) => Effect.Effect<number, BusError>
    readonly last: (stream: string, subject: string) => Effect.Effect<Option.Option<SourceMessage>, BusError>
    /** A range in order, read in pages. */
    readonly range: (stream: string, options: RangeOptions) => Stream.Stream<SourceMessage, BusError>
    /**
     * The newest messages before a sequence, newest first; at most 256. Found from the end, without reading the rest.
     */
    readonly newest: (stream: string, options: NewestOptions) => Effect.Effect<ReadonlyArray<SourceMessage>, BusError>
    /** The messages from a sequence on, then every later one, forever. */
    readonly follow: (stream: string, fromSequence: number) => Stream.Stream<SourceMessage, BusError>
    /** Like `follow`, in runs: messages that arrive within a moment of the first one, to be handled together. */
    readonly followInBatches: (
      stream: string,
      fromSequence: number,
      run: BatchOptions
    ) => Stream.Stream<ReadonlyArray<SourceMessage>, BusError>
    readonly remove: (stream: string, sequence: number) => Effect.Effect<void, BusError>
    /** Removes the messages on the subject; with `below` only those before that sequence. Returns how many. */
    readonly purge: (stream: string, subject: string, below?: number) => Effect.Effect<number, BusError>
  }
>()("starling/bus/StreamReader") {
  static readonly layer = Layer.effect(
    StreamReader,
    Effect.gen(function* () {
      const nats = yield* Nats
      return StreamReader.of(make(nats))
    })
  )
}

const make = (nats: Nats["Service"]): StreamReader["Service"] => {
  const next: StreamReader["Service"]["next"] = (stream, fromSequence, subject = ">") => {
    const query: { seq: number; next_by_subj: string } = { seq: fromSequence, next_by_subj: subject }
    return nats
      .use(`read ${stream}`, ({ manager }) => manager.streams.getMessage(stream, query))
      .pipe(
        Effect.map((message) => Option.fromNullishOr(message).pipe(Option.map(toSource))),
        Effect.catchTag("BusNotFound", () => Effect.succeed(Option.none<SourceMessage>()))
      )
  }

  const range: StreamReader["Service"]["range"] = (stream, options) =>
    Stream.paginate(options.fromSequence, (from) =>
      Effect.map(readRange(nats, stream, { ...options, fromSequence: from }), (page) => {
        const last = page.at(-1)
        const isMore = last !== undefined && last.sequence < options.toSequence
        return [page, isMore ? Option.some(last.sequence + 1) : Option.none<number>()] as const
      })
    )

  const follow: StreamReader["Service"]["follow"] = (stream, fromSequence) =>
    Stream.unwrap(
      Effect.map(readInOrder(nats, stream, Math.max(1, fromSequence), { capacity: followCapacity }), (queue) =>
        Stream.fromQueue(queue)
      )
    )

  const followInBatches: StreamReader["Service"]["followInBatches"] = (stream, fromSequence, run) =>
    Stream.unwrap(
      Effect.map(
        readInOrder(nats, stream, Math.max(1, fromSequence), { ...run, capacity: followCapacity + run.messagesMax }),
        (queue) => Stream.fromEffectRepeat(takeBatch(queue, run))
      )
    )

  const bounds = boundsIn(nats)

  return {
    next,
    range,
    newest: (stream, options) => Effect.flatMap(bounds(stream), (at) => newestIn(nats, stream, { ...options, ...at })),
    bounds,
    figures: (stream) =>
      nats
        .use(`read the figures of ${stream}`, ({ manager }) => manager.streams.info(stream))
        .pipe(Effect.map(figuresOf)),
    firstAt: (stream, epochMs) => firstAtIn(nats, bounds, stream, epochMs),
    follow,
    followInBatches,
    last: nats.last,
    countBySubject: (stream, filter) =>
      nats
        .use(`count ${stream}`, ({ manager }) => manager.streams.info(stream, { subjects_filter: filter }))
        .pipe(Effect.map((info) => info.state.subjects ?? {})),
    remove: (stream, sequence) =>
      nats
        .use(`remove from ${stream}`, ({ manager }) => manager.streams.deleteMessage(stream, sequence, false))
        .pipe(
          Effect.asVoid,
          Effect.catchTag("BusNotFound", () => Effect.void)
        ),
    purge: (stream, subject, below) =>
      nats
        .use(`purge ${subject}`, ({ manager }) =>
          manager.streams.purge(stream, { filter: subject, ...(below === undefined ? {} : { seq: below }) })
        )
        .pipe(Effect.map((result) => result.purged))
  }
}

const boundsIn =
  (nats: Nats["Service"]): StreamReader["Service"]["bounds"] =>
  (stream) =>
    nats
      .use(`read ${stream}`, ({ manager }) => manager.streams.info(stream))
      .pipe(
        Effect.map(({ state }) => ({
          firstSequence: state.first_seq,
          lastSequence: state.last_seq,
          messages: state.messages
        }))
      )

const figuresOf = ({ state, config, cluster }: StreamInfo): StreamFigures => ({
  messages: state.messages,
  bytes: state.bytes,
  bytesMax: config.max_bytes > 0 ? config.max_bytes : null,
  ageMsMax: config.max_age > 0 ? millis(config.max_age) : null,
  firstAtMs: state.messages === 0 ? null : Date.parse(state.first_ts),
  lastAtMs: state.messages === 0 ? null : Date.parse(state.last_ts),
  consumers: state.consumer_count,
  // The broker omits the name or leaves it empty.
  leader: cluster?.leader === undefined || cluster.leader === "" ? null : cluster.leader,
  replicas: config.num_replicas,
  replicasBehind: (cluster?.replicas ?? [])
    .filter(({ current, offline }) => !current || offline)
    .map(({ name }) => name),
  lostAt: config.metadata?.[lostAtKey]
})

const firstAtIn = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  bounds: StreamReader["Service"]["bounds"],
  stream: string,
  epochMs: number
) {
  const { messages } = yield* readPage(nats, stream, { from: { storedAtMs: epochMs }, messagesMax: 1 })
  const found = messages[0]?.sequence
  return found ?? (yield* bounds(stream)).lastSequence + 1
})

/**
 * Reads back from the end in windows that grow while they find too little, and shrink when they hold more than a page.
 */
const newestIn = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  stream: string,
  { before, messagesMax, firstSequence, lastSequence, ...filter }: NewestOptions & StreamBounds
) {
  // For an empty stream it is 0.
  const first = Math.max(1, firstSequence)
  const countMax = Math.min(messagesMax, pageMessagesMax)
  let found: ReadonlyArray<SourceMessage> = []
  let end = Math.min(before, lastSequence + 1)
  let width = countMax
  while (found.length < countMax && end > first) {
    const start = Math.max(first, end - width)
    const { messages, pending } = yield* readPage(nats, stream, {
      from: { seq: start },
      messagesMax: end - start,
      ...filter
    })
    const isComplete = pending === 0 || (messages.at(-1)?.sequence ?? 0) >= end - 1
    if (isComplete) {
      found = [...found, ...messages.filter(({ sequence }) => sequence < end).toReversed()]
      end = start
      width *= windowGrowth
    } else width = Math.max(1, Math.floor((end - start) / windowGrowth))
  }
  return found.slice(0, countMax)
})

const windowGrowth = 4
// The most messages that a slow reader holds before reading stops.
const followCapacity = 256

const readRange = (nats: Nats["Service"], stream: string, { fromSequence, toSequence, subject }: RangeOptions) =>
  readPage(nats, stream, { from: { seq: fromSequence }, messagesMax: toSequence - fromSequence + 1, subject }).pipe(
    Effect.map(({ messages }) => messages.filter(({ sequence }) => sequence <= toSequence))
  )

const toSource = (message: {
  readonly subject: string
  readonly seq: number
  readonly time: Date
  readonly data: Uint8Array
  readonly header: Parameters<typeof headerReader>[0]
}): SourceMessage => ({
  subject: message.subject,
  sequence: message.seq,
  storedAtMs: message.time.getTime(),
  data: message.data,
  header: headerReader(message.header),
  headerNames: () => message.header?.keys() ?? []
})
