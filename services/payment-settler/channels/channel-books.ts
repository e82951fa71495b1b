/**
 * Compares the channels' records with the chain: what was charged is what was claimed and what can still be claimed,
 * and what a record says of the chain is what the chain has. A difference is mended where the chain has moved on
 * unseen, and told where it cannot be explained.
 */
import { Effect } from "effect"
import type { BusError } from "#bus"
import { type ChainUnavailable, type Channel, channelIdIn, unclaimedOf } from "#x402"
import { channelDifferences, channelsKnown, channelUnits } from "../metrics.ts"
import type { Keeper } from "./channel-keeper.ts"
import { mirror } from "./channel-orders.ts"
import { lostOf } from "./claiming.ts"

/** The sums over all channels of a network, in the token's smallest unit. */
export interface ChannelSums {
  readonly charged: bigint
  readonly claimed: bigint
  readonly unclaimed: bigint
  readonly balance: bigint
  readonly lost: bigint
}

export const sumsOf = (channels: Iterable<Pick<Channel, "charged" | "mirror">>): ChannelSums => {
  const sums = { charged: 0n, claimed: 0n, unclaimed: 0n, balance: 0n, lost: 0n }
  for (const channel of channels) {
    sums.charged += BigInt(channel.charged)
    sums.claimed += BigInt(channel.mirror.totalClaimed)
    sums.unclaimed += unclaimedOf(channel)
    sums.balance += BigInt(channel.mirror.balance)
    sums.lost += lostOf(channel)
  }
  return sums
}

// A question to a node for each; a record that nobody uses does not change, so a part of them each time is enough.
const comparedMax = 512
const comparedAtOnce = 8

/** What cannot be explained of a channel whose record is as the chain is; none for one that is in order. */
export const faultsOfChannel = (channel: Channel): ReadonlyArray<string> => {
  const { charged, signed } = channel
  const isCovered = unclaimedOf(channel) === 0n || (signed !== null && BigInt(signed.maxClaimable) >= BigInt(charged))
  const lost = lostOf(channel)
  return [
    ...(isCovered ? [] : [`${charged} is charged without a voucher for it`]),
    ...(lost === 0n ? [] : [`${lost} of what is charged has left the channel`])
  ]
}

/** The channels that are still to be looked at before it is the first one's turn again. */
const waiting = new WeakMap<Keeper, ReadonlyArray<string>>()

export const compareChannels = Effect.fnUntraced(function* (
  keeper: Keeper,
  known: ReadonlyMap<string, Channel>
): Effect.fn.Return<void, BusError | ChainUnavailable> {
  const { metrics, network } = keeper
  tell(keeper, known)
  const found = yield* Effect.forEach(nextInTurn(keeper, known), (channel) => compared(keeper, channel), {
    concurrency: comparedAtOnce
  })
  const faults = found.flat()
  metrics.gauge(channelDifferences).set({ network: network.name }, faults.length)
  for (const each of faults) {
    yield* Effect.logError("a payment channel and the chain do not agree").pipe(Effect.annotateLogs(each))
  }
})

const compared = Effect.fnUntraced(function* (
  { network, channels }: Keeper,
  channel: Channel
): Effect.fn.Return<
  ReadonlyArray<{ readonly network: string; readonly channelId: string; readonly fault: string }>,
  BusError | ChainUnavailable
> {
  const name = { network: network.name, channelId: channelIdIn(network.contract, channel.config) }
  yield* Effect.catchTag(
    mirror(network, channels, { ...name, config: channel.config }),
    "ChannelRefused",
    () => Effect.void
  )
  const present = yield* channels.read(name)
  if (present._tag === "None") return [{ ...name, fault: "its record is gone" }]
  return faultsOfChannel(present.value).map((fault) => ({ ...name, fault }))
})

const nextInTurn = (keeper: Keeper, known: ReadonlyMap<string, Channel>): ReadonlyArray<Channel> => {
  const left = (waiting.get(keeper) ?? []).filter((key) => known.has(key))
  const keys = left.length > 0 ? left : [...known.keys()]
  waiting.set(keeper, keys.slice(comparedMax))
  return keys.slice(0, comparedMax).flatMap((key) => known.get(key) ?? [])
}

const tell = ({ metrics, network }: Keeper, known: ReadonlyMap<string, Channel>) => {
  const units = metrics.gauge(channelUnits)
  for (const [sum, amount] of Object.entries(sumsOf(known.values()))) {
    units.set({ network: network.name, sum: sum as keyof ChannelSums }, Number(amount))
  }
  const count = metrics.gauge(channelsKnown)
  count.set({ network: network.name, which: "all" }, known.size)
  const withdrawing = [...known.values()].filter(({ mirror }) => mirror.withdrawRequestedAt > 0)
  count.set({ network: network.name, which: "withdrawing" }, withdrawing.length)
}
