/**
 * Compares the channels' records with the chain and with their receipts. The amount charged equals the amount claimed
 * plus what can still be claimed; a record's chain state equals the chain's; and a channel's receipts add up to what it
 * was charged. A difference is mended if the chain has advanced unseen, and kept in the books if it cannot be
 * explained.
 *
 * Receipts expire, so their sums are stored, one per channel, with the position up to which each holds. A settler that
 * dies between two writes counts no receipt twice: each sum records what it includes.
 */
import { createHash } from "node:crypto"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { type BusError, kept, type KvBucket, records, replaced } from "#bus"
import { AtomicAmount, addressKeyOf, type BookChannel, type BookFinding, inOneCase } from "#payments/contract"
import { Metrics } from "#runtime"
import { type ChainUnavailable, type Channel, channelIdIn, Channels, owedOf, unclaimedOf } from "#payments"
import { Ledger, type StoredCharge } from "../ledger.ts"
import { channelDifferences, channelsKnown, channelUnits, findings } from "../metrics.ts"
import { Books, type Receiver } from "../reconciliation/Books.ts"
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

// Each takes one question to a node; the record of an idle channel does not change, so checking part of them each time
// is enough.
const comparedMax = 512
const comparedAtOnce = 8

/** What cannot be explained about a channel; `amount`: by how much. */
export type ChannelFault = Pick<BookChannel, "fault" | "amount">

/** For a channel whose record matches the chain; none if it is in order. */
export const faultsOfChannel = (channel: Channel): ReadonlyArray<ChannelFault> => {
  const { charged, signed } = channel
  const unclaimed = unclaimedOf(channel)
  const isCovered = unclaimed === 0n || (signed !== null && BigInt(signed.maxClaimable) >= BigInt(charged))
  const lost = lostOf(channel)
  return [
    ...(isCovered ? [] : [{ fault: `${charged} is charged without a voucher for it`, amount: unclaimed.toString() }]),
    ...(lost === 0n ? [] : [{ fault: `${lost} of what is charged has left the channel`, amount: lost.toString() }])
  ]
}

/**
 * The sum of a channel's receipts. `through`: the last sequence of RECEIPTS that it includes. `base`: what an earlier
 * release charged, whose receipts name no channel; null while unknown.
 */
export const ReceiptSum = Schema.Struct({
  receipted: AtomicAmount,
  through: Schema.Int,
  base: Schema.NullOr(AtomicAmount)
})
export interface ReceiptSum extends Schema.Schema.Type<typeof ReceiptSum> {}

const noReceipts: ReceiptSum = { receipted: "0", through: 0, base: null }

/**
 * The sum with one more receipt; unchanged if it is already included. Pure, like everything below up to `addReceipts`.
 */
export const withReceipt = (sum: ReceiptSum, { sequence, amount }: Pick<StoredCharge, "sequence" | "amount">) =>
  sequence <= sum.through ? sum : { ...sum, through: sequence, receipted: (BigInt(sum.receipted) + amount).toString() }

/** What the receipts that name a channel must add up to; undefined for a channel opened by an earlier release. */
const receiptedOf = ({ charged, unreceipted }: Channel) =>
  unreceipted === undefined ? undefined : BigInt(charged) - BigInt(unreceipted)

/** The amount that was charged and had its receipt when the record was written. */
const writtenOf = (channel: Channel) =>
  owedOf(channel).reduce((left, { amount }) => left - BigInt(amount), BigInt(channel.charged))

/** The base of a channel of an earlier release, once it did not change while its receipts were read. */
export const baseOf = (sum: ReceiptSum, before: Channel, after: Channel): string | null => {
  const isStill = before.charged === after.charged && owedOf(before).length === 0 && owedOf(after).length === 0
  if (sum.base !== null || receiptedOf(after) !== undefined || !isStill) return sum.base
  const base = BigInt(after.charged) - BigInt(sum.receipted)
  return (base > 0n ? base : 0n).toString()
}

/**
 * By how much a channel's receipts fall short or exceed. They were read to the end after the record was `before`, and
 * before it was `after`: a receipt is written after its charge, and a charge is owed until then.
 */
export const faultsOfReceipts = (
  { receipted, base }: ReceiptSum,
  before: Channel,
  after: Channel
): ReadonlyArray<ChannelFault> => {
  if (receiptedOf(after) === undefined && base === null) return []
  const known = BigInt(receipted) + BigInt(base ?? "0")
  const missing = writtenOf(before) - BigInt(before.unreceipted ?? "0") - known
  const beyond = known - (BigInt(after.charged) - BigInt(after.unreceipted ?? "0"))
  return [
    ...(missing > 0n ? [{ fault: `${missing} of what is charged has no receipt`, amount: missing.toString() }] : []),
    ...(beyond > 0n ? [{ fault: `its receipts are ${beyond} more than was charged`, amount: beyond.toString() }] : [])
  ]
}

/** Where a network's sums are stored. */
export interface ReceiptSums {
  readonly sums: KvBucket<ReceiptSum>
  readonly places: KvBucket<{ readonly through: number }>
}

/** The sequence of RECEIPTS up to which all sums of a network hold. */
export const ReceiptsPlace = Schema.Struct({ through: Schema.Int })

const sumKeyOf = (network: string, channelId: string) =>
  `receipted.${addressKeyOf(network, inOneCase(network, channelId))}`

// How many charges are held at a time, at about 300 bytes each.
const unwrittenMax = 16_384
// The limit of one reading; the next one reads the rest.
const chargesMax = 200_000

/** Adds the receipts that were written since the last time. True when they were read to the end. */
export const addReceipts = Effect.fn("addReceipts")(function* (
  { network, receiptSums: { sums, places } }: Pick<Keeper, "network" | "receiptSums">,
  known: ReadonlyMap<string, Channel>
): Effect.fn.Return<boolean, BusError, Ledger> {
  const placeKey = `receipts.${addressKeyOf(network.name, network.entry.PayTo)}`
  const place = yield* places.get(placeKey)
  const from = Option.isSome(place) ? place.value.value.through : 0
  let unwritten: Array<{ readonly key: string; readonly charge: StoredCharge }> = []
  let [through, read] = [from, 0]
  const flush = Effect.gen(function* () {
    const byKey = Map.groupBy(unwritten, ({ key }) => key)
    for (const [key, some] of byKey) {
      yield* records(sums).change(key, (before = noReceipts) => {
        const sum = some.reduce((added, { charge }) => withReceipt(added, charge), before)
        return sum === before ? kept(before) : replaced(sum)
      })
    }
    unwritten = []
    if (through > from) yield* records(places).change(placeKey, () => replaced({ through }))
  })
  const owners = ownersOf(network.contract, known)
  yield* (yield* Ledger).charges(network.name, from + 1).pipe(
    Stream.take(chargesMax),
    Stream.runForEach(
      Effect.fnUntraced(function* (charge) {
        read += 1
        const channelId = charge.channel ?? owners(charge.payer)
        if (channelId !== undefined) unwritten.push({ key: sumKeyOf(network.name, channelId), charge })
        through = charge.sequence
        if (unwritten.length >= unwrittenMax) yield* flush
      })
    )
  )
  yield* flush
  return read < chargesMax
})

/** The channel of a payer that has only one: receipts of an earlier release name the payer. */
const ownersOf = (contract: Keeper["network"]["contract"], known: ReadonlyMap<string, Channel>) => {
  let byPayer: Map<string, ReadonlyArray<Channel>> | undefined
  return (payer: string): string | undefined => {
    byPayer ??= Map.groupBy(known.values(), ({ config }) => config.payer.toLowerCase())
    const own = byPayer.get(payer.toLowerCase()) ?? []
    return own.length === 1 && own[0] !== undefined ? channelIdIn(contract, own[0].config) : undefined
  }
}

/** The channels still to be checked before the first one's turn comes again. */
const waiting = new WeakMap<Keeper, ReadonlyArray<string>>()

export const compareChannels = Effect.fnUntraced(function* (
  keeper: Keeper,
  known: ReadonlyMap<string, Channel>
): Effect.fn.Return<void, BusError | ChainUnavailable, Books | Channels | Ledger | Metrics> {
  const metrics = yield* Metrics
  const network = keeper.network.name
  report(metrics, network, known)
  // The records as they are before their receipts are read.
  const compared = nextInTurn(keeper, known)
  const isAtEnd = yield* addReceipts(keeper, known)
  const found = yield* Effect.forEach(compared, (channel) => faultsOf(keeper, channel, isAtEnd), {
    concurrency: comparedAtOnce
  })
  const faults = found.flat()
  metrics.gauge(channelDifferences).set({ network }, faults.length)
  yield* keepFindings(keeper, compared, faults)
})

const faultsOf = Effect.fnUntraced(function* (
  { network, receiptSums: { sums } }: Keeper,
  channel: Channel,
  isAtEnd: boolean
): Effect.fn.Return<ReadonlyArray<BookChannel>, BusError | ChainUnavailable, Channels> {
  const { config } = channel
  const name = { network: network.name, channelId: channelIdIn(network.contract, config) }
  yield* Effect.catchTag(mirror(network, { ...name, config }), "ChannelRefused", () => Effect.void)
  const present = Option.getOrUndefined(yield* (yield* Channels).read(name))
  const columns = { channelId: name.channelId, asset: config.token, payer: config.payer }
  if (present === undefined) return [{ ...columns, fault: "its record is gone", amount: channel.charged }]
  const key = sumKeyOf(network.name, name.channelId)
  const { answer: sum } = yield* records(sums).change(key, (before = noReceipts) => {
    const base = isAtEnd ? baseOf(before, channel, present) : before.base
    return base === before.base ? kept(before) : replaced({ ...before, base })
  })
  const ofReceipts = isAtEnd ? faultsOfReceipts(sum, channel, present) : []
  return [...faultsOfChannel(present), ...ofReceipts].map((fault) => ({ ...columns, ...fault }))
})

const findingIdOf = ({ Network, PayTo }: Receiver, { channelId, fault }: BookChannel) =>
  createHash("sha256")
    .update(`${addressKeyOf(Network, PayTo)} ChannelDiffers ${channelId} ${fault}`)
    .digest("hex")
    .slice(0, 32)

/** Stores the findings, each once, and ends those that are no longer found among the compared channels. */
const keepFindings = Effect.fnUntraced(function* (
  { network: { name, entry, contract } }: Keeper,
  compared: ReadonlyArray<Channel>,
  faults: ReadonlyArray<BookChannel>
): Effect.fn.Return<void, BusError, Books | Metrics> {
  const books = yield* Books
  const counter = (yield* Metrics).counter(findings)
  const kept = (yield* books.all(entry)).map(({ value }) => value)
  const open = new Map(kept.map((finding) => [finding.id, finding] as const))
  const ids = new Set<string>()
  let others = kept.length
  for (const channel of faults) {
    const id = findingIdOf(entry, channel)
    ids.add(id)
    const before = open.get(id)
    // It is still open, or an operator has explained it.
    if (before !== undefined && (before.end === null || before.end.how === "accepted")) continue
    const foundAtMs = yield* Clock.currentTimeMillis
    const parts = { claimKeys: [], transfer: null, receipts: [], channel, end: null }
    const finding: BookFinding = { id, network: name, payTo: entry.PayTo, kind: "ChannelDiffers", foundAtMs, ...parts }
    counter.inc({ network: name, finding: "ChannelDiffers" })
    yield* Effect.logError("a payment channel cannot be explained").pipe(
      Effect.annotateLogs({ network: name, id, channel: channel.channelId, fault: channel.fault })
    )
    if (yield* books.keep(finding, others)) others += 1
  }
  const looked = new Set(compared.map(({ config }) => channelIdIn(contract, config).toLowerCase()))
  const over = kept.filter(
    ({ id, channel, end }) =>
      end === null && channel !== undefined && looked.has(channel.channelId.toLowerCase()) && !ids.has(id)
  )
  yield* Effect.forEach(over, ({ id }) => books.end(id, { how: "resolved" }), { discard: true })
})

const nextInTurn = (keeper: Keeper, known: ReadonlyMap<string, Channel>): ReadonlyArray<Channel> => {
  const left = (waiting.get(keeper) ?? []).filter((key) => known.has(key))
  const keys = left.length > 0 ? left : [...known.keys()]
  waiting.set(keeper, keys.slice(comparedMax))
  return keys.slice(0, comparedMax).flatMap((key) => known.get(key) ?? [])
}

const report = (metrics: Metrics["Service"], network: string, known: ReadonlyMap<string, Channel>) => {
  const units = metrics.gauge(channelUnits)
  for (const [sum, amount] of Object.entries(sumsOf(known.values()))) {
    units.set({ network, sum: sum as keyof ChannelSums }, Number(amount))
  }
  const count = metrics.gauge(channelsKnown)
  count.set({ network, which: "all" }, known.size)
  const withdrawing = [...known.values()].filter(({ mirror }) => mirror.withdrawRequestedAt > 0)
  count.set({ network, which: "withdrawing" }, withdrawing.length)
}
