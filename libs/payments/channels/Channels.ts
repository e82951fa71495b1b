/**
 * The channels' records in the bucket `channels`, each the state after its last decision. A command is decided on the
 * last record and written on the condition that it is still the last: of two gateways that take a voucher of the same
 * height, one writes. If it is unknown whether a write was stored, the record is read again before either is assumed.
 *
 * In one process the commands of one channel take turns, and its last record is cached. A cached record can be behind
 * another gateway's write: it may allow, because the write then fails, but it never refuses. There is one exception:
 * while a call of this process is in progress, no other process writes, so a storm of vouchers on one channel reads
 * nothing.
 *
 * A work that the cached record allows can begin in memory alone. It is stored by the write of its next command: most
 * calls are charged by the one write that stores their voucher. Until then any other process can take the channel, and
 * the next command is refused.
 */
import { setNewest } from "#base"
import { Clock, Context, Effect, Layer, Option, Result, Schema, type Stream } from "effect"
import { type BusError, jsonCodec, Kv, type KvBucket, type KvEntry, type Records, records } from "#bus"
import { addressKeyOf, ChannelOrder, ChannelOrderAnswer, inOneCase } from "#payments/contract"
import { keyedQueue } from "#runtime"
import {
  Channel,
  type ChannelCommand,
  type ChannelDecision,
  channelReason,
  decideAll,
  withoutAnswer
} from "./channel.ts"

/** One of each: by their identity the bus knows that a question and its answer need not leave the process. */
export const channelOrderCodec = jsonCodec(ChannelOrder)
export const channelOrderAnswerCodec = jsonCodec(ChannelOrderAnswer)

export interface ChannelName {
  readonly network: string
  readonly channelId: string
}

/** The channel does not allow the command. `channel` is the record on which that was decided. */
export class ChannelRefused extends Schema.TaggedError<ChannelRefused>()("ChannelRefused", {
  reason: Schema.String,
  channel: Schema.NullOr(Channel)
}) {
  override get message() {
    return `the channel refused: ${this.reason}`
  }
}

const bucketName = "channels"

type Begin = Extract<ChannelCommand, { readonly _tag: "Begin" }>

export const channelKeyOf = ({ network, channelId }: ChannelName): string =>
  addressKeyOf(network, inOneCase(network, channelId))

/** A channel as last read or written. */
export interface StoredChannel {
  readonly key: string
  readonly channel: Channel
  readonly revision: number
}

export class Channels extends Context.Service<
  Channels,
  {
    /** The channel after the command. A command that arrives twice is carried out once. */
    readonly run: (name: ChannelName, command: ChannelCommand) => Effect.Effect<Channel, ChannelRefused | BusError>
    /**
     * Begins the work in memory if the cached record allows it and nothing else is in progress on the channel. Makes no
     * request. False: nothing has begun. Until the work ends or its lease expires, others find the channel busy.
     */
    readonly beginOptimistically: (name: ChannelName, begin: Begin) => Effect.Effect<boolean>
    /** Whether a work has begun in memory alone, and its lease has not expired. */
    readonly isServedUnsettled: (name: ChannelName) => Effect.Effect<boolean>
    /** The last record, from the leader. */
    readonly read: (name: ChannelName) => Effect.Effect<Option.Option<Channel>, BusError>
    /** All records, in their present state. */
    readonly all: Stream.Stream<KvEntry<Channel>, BusError>
    /** Every record, and then every later one, in batches. */
    readonly changes: KvBucket<Channel>["changesInBatches"]
  }
>()("starling/payments/Channels") {
  static readonly layer = Layer.effect(
    Channels,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open(bucketName, Channel)
      const parts: Parts = {
        // After a lost reply the command itself finds its work in the record, by its ticket.
        records: records(bucket, { isOurs: () => false }),
        remembered: new Map(),
        optimistic: new Map(),
        contested: new Map()
      }
      const queue = keyedQueue(waitingMax)
      const run = Effect.fnUntraced(function* (name: ChannelName, command: ChannelCommand) {
        const key = channelKeyOf(name)
        const busy = Effect.suspend(() => refusal(channelReason.busy, parts.remembered.get(key)?.channel ?? null))
        return yield* queue.run(key, busy, carryOut(parts, key, command))
      })
      const beginOptimistically = (name: ChannelName, begin: Begin) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const key = channelKeyOf(name)
          const known = rememberedOf(parts, key, true)
          const isFree = queue.isIdle(key) && optimisticOf(parts, key, nowMs) === undefined
          if (!isFree || known === undefined || isContested(parts, key, nowMs)) return false
          if (decideAll(known.channel, begin, nowMs).refused !== null) return false
          forgetOldest(parts, nowMs)
          parts.optimistic.set(key, { begin, atMs: nowMs, isTried: false })
          return true
        })
      return Channels.of({
        run,
        beginOptimistically,
        isServedUnsettled: (name) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => optimisticOf(parts, channelKeyOf(name), nowMs) !== undefined),
        read: (name) =>
          Effect.map(
            bucket.get(channelKeyOf(name)),
            Option.map(({ value }) => value)
          ),
        all: bucket.scan(">"),
        changes: bucket.changesInBatches
      })
    })
  )
}

// A payer with more calls than this in progress on one channel is refused without a read.
const waitingMax = 1_024
// A record takes a kilobyte; unused channels are read again.
const rememberedMax = 16_384
// How long a channel's work is stored before it begins, after another process took one that was not.
const contestedMs = 3_600_000

interface Parts {
  readonly records: Records<Channel>
  readonly remembered: Map<string, RememberedChannel>
  readonly optimistic: Map<string, OptimisticWork>
  /** When another process took a channel's work before it was stored, by channel. */
  readonly contested: Map<string, number>
}

interface RememberedChannel extends StoredChannel {
  readonly lacksAnswer: boolean
}

/** A work that is not known to be stored. */
interface OptimisticWork {
  readonly begin: Begin
  readonly atMs: number
  /** A write of it was sent: only the record can tell whether it was stored. */
  isTried: boolean
}

const carryOut = Effect.fnUntraced(function* (
  parts: Parts,
  key: string,
  command: ChannelCommand
): Effect.fn.Return<Channel, ChannelRefused | BusError> {
  const optimistic = optimisticOf(parts, key, yield* Clock.currentTimeMillis)
  if (optimistic === undefined) return yield* write(parts, key, { command })
  if (ticketOf(command) !== optimistic.begin.work.ticket) {
    if (command._tag === "Begin") return yield* refusal(channelReason.busy, null)
    return yield* write(parts, key, { command })
  }
  const known = rememberedOf(parts, key, true)
  if (command._tag === "Release" && !optimistic.isTried && known?.channel) {
    parts.optimistic.delete(key)
    return known.channel
  }
  optimistic.isTried = true
  const written = yield* Effect.result(write(parts, key, { command, optimistic }))
  // What is not known to be stored is looked up by the next command.
  if (Result.isSuccess(written) || written.failure._tag === "ChannelRefused") parts.optimistic.delete(key)
  return yield* Effect.fromResult(written)
})

interface Writing {
  readonly command: ChannelCommand
  /** Stored with it. */
  readonly optimistic?: OptimisticWork | undefined
}

const write = Effect.fnUntraced(function* (
  parts: Parts,
  key: string,
  writing: Writing
): Effect.fn.Return<Channel, ChannelRefused | BusError> {
  const { command, optimistic } = writing
  const known = rememberedOf(parts, key, command._tag === "Begin" || optimistic !== undefined)
  const foreseen = known?.channel.charged
  const changed = yield* parts.records
    .change(
      key,
      (found, { nowMs }) => {
        const before = found ?? null
        const { facts, after, refused } = decided(before, writing, nowMs)
        if (refused !== null && optimistic !== undefined && isTaken(before, foreseen)) contest(parts, key, nowMs)
        return Result.succeed({
          answer: { after, refused },
          next: facts.length === 0 || after === null ? undefined : after
        })
      },
      { known: known && Option.some({ key, value: known.channel, revision: known.revision }) }
    )
    .pipe(Effect.tapError(() => Effect.sync(() => parts.remembered.delete(key))))
  const { answer, value, revision } = changed
  if (value === undefined) parts.remembered.delete(key)
  else remember(parts, { key, channel: value, revision })
  const { after, refused } = answer
  return refused === null && after !== null ? after : yield* refusal(refused ?? channelReason.missing, after)
})

/** If the record has the work, a write whose reply was lost has stored it. */
const decided = (channel: Channel | null, { command, optimistic }: Writing, nowMs: number): ChannelDecision => {
  const ticket = optimistic?.begin.work.ticket
  if (optimistic === undefined || channel?.work?.ticket === ticket || channel?.ended?.ticket === ticket) {
    return decideAll(channel, command, nowMs)
  }
  const begun = decideAll(channel, optimistic.begin, optimistic.atMs)
  if (begun.refused !== null || command._tag === "Begin") return begun
  const { facts, after, refused } = decideAll(begun.after, command, nowMs)
  return { facts: [...begun.facts, ...facts], after, refused }
}

/** A work whose lease has expired is forgotten: its gateway's call hung, or could not release it. */
const optimisticOf = ({ optimistic }: Parts, key: string, nowMs: number): OptimisticWork | undefined => {
  const found = optimistic.get(key)
  if (found === undefined || nowMs < found.atMs + found.begin.leaseMs) return found
  optimistic.delete(key)
  return undefined
}

/** Done with each new one: a channel whose work could not be stored may never be used again. */
const forgetOldest = (parts: Parts, nowMs: number) => {
  const [oldest] = parts.optimistic.keys()
  if (oldest !== undefined) optimisticOf(parts, oldest, nowMs)
}

const ticketOf = (command: ChannelCommand): string | undefined => {
  if (command._tag === "Begin") return command.work.ticket
  return "ticket" in command ? command.ticket : undefined
}

const isTaken = (channel: Channel | null, foreseen: string | undefined) =>
  channel !== null && (channel.work !== null || channel.charged !== foreseen)

const contest = ({ contested }: Parts, key: string, nowMs: number) => {
  setNewest(contested, key, nowMs, rememberedMax)
}

const isContested = ({ contested }: Parts, key: string, nowMs: number) =>
  nowMs < (contested.get(key) ?? Number.NEGATIVE_INFINITY) + contestedMs

const refusal = (reason: string, channel: Channel | null) => Effect.fail(new ChannelRefused({ reason, channel }))

/** A record cached without its answer is good only for the next call, which no longer needs that answer. */
const rememberedOf = ({ remembered }: Parts, key: string, begins: boolean): StoredChannel | undefined => {
  const found = remembered.get(key)
  return found === undefined || (found.lacksAnswer && !begins) ? undefined : found
}

/** The most recently used channels stay, without their answers: those are several times as long as the rest. */
const remember = ({ remembered }: Parts, { key, channel, revision }: StoredChannel) => {
  const trimmed = withoutAnswer(channel)
  setNewest(remembered, key, { key, channel: trimmed, revision, lacksAnswer: trimmed !== channel }, rememberedMax)
}
