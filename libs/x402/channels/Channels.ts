/**
 * The channels' records in the bucket `channels`, each the state after its last decision. A command is decided on the
 * last record and written on the condition that it is still the last: of two gateways that take a voucher of the same
 * height, one writes. What is not known to be stored is read again before it counts as either.
 *
 * In one process the commands of one channel take turns, and its last record is remembered. A remembered record may be
 * behind another gateway's write: it allows, for the write then fails, but it never refuses. There is one exception:
 * while a call of this very process is in work nobody else writes, so a storm of vouchers on one channel reads nothing.
 */
import { Clock, Context, Effect, Layer, Option, Schema, type Stream } from "effect"
import { BusUnavailable, type BusError, jsonCodec, Kv, type KvBucket, type KvEntry } from "#bus"
import { addressKeyOf, ChannelOrder, ChannelOrderAnswer, inOneCase } from "#contracts"
import { keyedQueue, Metrics } from "#runtime"
import { channelCommands } from "../metrics.ts"
import { Channel, type ChannelCommand, channelReason, decideAll, isLapsed, withoutAnswer } from "./channel.ts"

/** One of each: by them the bus knows that a question and its answer need not leave the process. */
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

export const channelKeyOf = ({ network, channelId }: ChannelName): string =>
  addressKeyOf(network, inOneCase(network, channelId))

/** A channel as last read or written. */
export interface StoredChannel {
  readonly key: string
  readonly channel: Channel
  readonly revision: number
}

interface ChannelsOptions {
  /** This process's name in the work that it begins; null for one that begins none. */
  readonly holder: string | null
}

export class Channels extends Context.Service<
  Channels,
  {
    /** The channel after the command. A command that comes twice is carried out once. */
    readonly run: (name: ChannelName, command: ChannelCommand) => Effect.Effect<Channel, ChannelRefused | BusError>
    /**
     * Whether the command would be carried out by the record that is remembered, and nothing else is under way on the
     * channel. Asks nobody; another process may have gone on meanwhile.
     */
    readonly isForeseen: (name: ChannelName, command: ChannelCommand) => Effect.Effect<boolean>
    /** The last record, from the leader. */
    readonly read: (name: ChannelName) => Effect.Effect<Option.Option<Channel>, BusError>
    /** All records, in their present state. */
    readonly all: Stream.Stream<KvEntry<Channel>, BusError>
    /** Every record, and then every later one, in runs. */
    readonly changes: KvBucket<Channel>["changesInBatches"]
  }
>()("starling/x402/Channels") {
  static readonly layer = ({ holder }: ChannelsOptions) =>
    Layer.effect(
      Channels,
      Effect.gen(function* () {
        const bucket = yield* (yield* Kv).open(bucketName, Channel)
        const commands = (yield* Metrics).counter(channelCommands)
        const parts: Parts = { bucket, holder, remembered: new Map() }
        const queue = keyedQueue(waitingMax)
        const run = Effect.fnUntraced(function* (name: ChannelName, command: ChannelCommand) {
          const key = channelKeyOf(name)
          const busy = Effect.suspend(() => refusal(channelReason.busy, parts.remembered.get(key)?.channel ?? null))
          return yield* queue.run(key, busy, carryOut(parts, key, command)).pipe(
            Effect.tap(() => Effect.sync(() => commands.inc({ command: command._tag, outcome: "done" }))),
            Effect.tapError(({ _tag }) =>
              Effect.sync(() =>
                commands.inc({ command: command._tag, outcome: _tag === "ChannelRefused" ? "refused" : "failed" })
              )
            )
          )
        })
        const isForeseen = (name: ChannelName, command: ChannelCommand) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            const key = channelKeyOf(name)
            const known = rememberedOf(parts, key, command)
            return queue.isIdle(key) && known !== undefined && decideAll(known.channel, command, nowMs).refused === null
          })
        return Channels.of({
          run,
          isForeseen,
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

// Each failed try is another process's success, and only few processes share a channel.
const triesMax = 16
// A payer that has more calls than this under way on one channel is refused without a look.
const waitingMax = 1_024
// A record takes a kilobyte; channels that are not used are read again.
const rememberedMax = 16_384

interface Parts {
  readonly bucket: KvBucket<Channel>
  readonly holder: string | null
  readonly remembered: Map<string, RememberedChannel>
}

interface RememberedChannel extends StoredChannel {
  readonly lacksAnswer: boolean
}

/** A channel as far as it is known here. `revision` 0: no record. */
interface Known {
  readonly channel: Channel | null
  readonly revision: number
  readonly isFresh: boolean
}

const carryOut = Effect.fnUntraced(function* (
  parts: Parts,
  key: string,
  command: ChannelCommand
): Effect.fn.Return<Channel, ChannelRefused | BusError> {
  let known: Known | undefined = rememberedOf(parts, key, command)
  let unsure: BusError | undefined
  for (let tries = 0; tries < triesMax; tries += 1) {
    const nowMs = yield* Clock.currentTimeMillis
    const { channel, revision, isFresh }: Known = known ?? (yield* load(parts, key))
    known = undefined
    const { facts, after, refused } = decideAll(channel, command, nowMs)
    const isCertain = isFresh || isOwnWork(parts, channel, nowMs)
    if (!isCertain && (refused !== null || facts.length === 0)) continue
    const next = facts.length === 0 || after === null ? undefined : after
    if (next !== undefined) {
      // The first write's answer was lost, and what was read since does not show it: it was not stored.
      const written = yield* Effect.result(parts.bucket.update(key, next, revision))
      if (written._tag === "Failure") {
        parts.remembered.delete(key)
        if (written.failure._tag === "BusUnavailable") {
          if (unsure !== undefined) return yield* unsure
          unsure = written.failure
        } else if (written.failure._tag !== "RevisionConflict") return yield* written.failure
        continue
      }
      remember(parts, { key, channel: next, revision: written.success })
    }
    if (refused !== null || after === null) return yield* refusal(refused ?? channelReason.missing, after)
    return after
  }
  const detail = `other writes came first ${triesMax} times`
  return yield* new BusUnavailable({ operation: `change channel ${key}`, detail })
})

const refusal = (reason: string, channel: Channel | null) => Effect.fail(new ChannelRefused({ reason, channel }))

/** A channel that this process uses now; no other may write it before the lease of that work is over. */
const isOwnWork = ({ holder }: Parts, channel: Channel | null, nowMs: number) =>
  channel?.work?.holder === holder && holder !== null && channel !== null && !isLapsed(channel, nowMs)

/** A record that is remembered without its answer is good for the next call alone, which gives the answer up. */
const rememberedOf = ({ remembered }: Parts, key: string, { _tag }: ChannelCommand): Known | undefined => {
  const found = remembered.get(key)
  if (found === undefined || (found.lacksAnswer && _tag !== "Begin")) return undefined
  return { channel: found.channel, revision: found.revision, isFresh: false }
}

const load = Effect.fnUntraced(function* (parts: Parts, key: string): Effect.fn.Return<Known, BusError> {
  const found = Option.getOrUndefined(yield* parts.bucket.get(key))
  if (found === undefined) return { channel: null, revision: 0, isFresh: true }
  remember(parts, { key, channel: found.value, revision: found.revision })
  return { channel: found.value, revision: found.revision, isFresh: true }
})

/** The channels used last stay, without their answers: those are several times as long as the rest. */
const remember = ({ remembered }: Parts, { key, channel, revision }: StoredChannel) => {
  remembered.delete(key)
  const lean = withoutAnswer(channel)
  remembered.set(key, { key, channel: lean, revision, lacksAnswer: lean !== channel })
  const [oldest] = remembered.keys()
  if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest)
}
