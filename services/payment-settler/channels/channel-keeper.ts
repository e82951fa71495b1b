/**
 * Keeps a network's channels: watches the chain for what payers and others did with them, claims what they owe, moves
 * claimed money to the receiving account, and ends the work of gateways that are gone. One process at a time does this,
 * under a lease; a twin that wakes late does no harm, because a claim is of a total and a sweep moves only what is
 * there.
 *
 * After every check, gateways learn up to when the chain has been watched: they accept vouchers only while that is
 * recent.
 */
import { Clock, Effect, Layer, Option, Ref, Result, Schedule, Stream } from "effect"
import { type BusError, Kv, type KvBucket, Leases, Mailbox, records, revisionOf } from "#bus"
import { ChannelWatch } from "#payments/contract"
import { Configuration } from "#configuration"
import { Metrics, supervise } from "#runtime"
import {
  atomicAmount,
  type ChainUnavailable,
  type Channel,
  ChannelCommand,
  channelKeyOf,
  type ChannelRefused,
  Channels,
  claimBatchMessage,
  claimCall,
  isLapsed,
  channelIdIn,
  microUsdOf,
  owedOf,
  settleCall,
  sweptIn,
  withoutAnswer
} from "#payments"
import { channelTransactions, channelWatchedAt } from "../metrics.ts"
import { type ChannelNetwork, ChannelNetworks, transact } from "./ChannelNetworks.ts"
import { mirror, writeReceipts } from "./channel-orders.ts"
import { compareChannels, ReceiptsPlace, ReceiptSum, type ReceiptSums } from "./channel-books.ts"
import { batchesOf, claimableOf, claimReason, type ClaimTerms, inOrder } from "./claiming.ts"

// Nodes behind one address are several blocks apart, and the newest blocks can be replaced.
const overlapBlocks = 12
// A chain without a new block for this long is stuck, or its node is; what was not read does not count as watched.
const stillMs = 300_000
// How many blocks back a settler reads if it finds no record of the last check.
const firstBlocks = 5_000
const looksAtOnce = 8
const lapsesAtOnce = 16
const receiptsAtOnce = 16
// A gateway reports with the next voucher that the last one's receipt is written; this is for channels without a next
// one.
const receiptsAfterMs = 5_000
// As long as the store `paid-answers` keeps longer answers.
const answerKeptMs = 2 * 86_400_000
// The next check of the chain does not wait for more.
const forgottenAtOnce = 128

const claimGas = (rows: number) => 120_000n + 110_000n * BigInt(rows)
const sweepGas = 150_000n

export const channelKeeper = Layer.effectDiscard(
  Effect.gen(function* () {
    const networks = yield* ChannelNetworks
    if (networks.size === 0) return
    const { PaymentSettler } = yield* Configuration
    const { instance } = yield* Mailbox
    const leases = yield* Leases
    const kv = yield* Kv
    const watches = yield* kv.open("channel-watches", ChannelWatch)
    const receiptSums: ReceiptSums = {
      sums: yield* kv.open("payment-books", ReceiptSum),
      places: yield* kv.open("payment-books", ReceiptsPlace)
    }
    for (const network of networks.values()) {
      const keeper: Keeper = {
        network,
        watches,
        receiptSums,
        terms: {
          unitsMax: atomicAmount(microUsdOf(PaymentSettler.ChannelClaimUsd), network.entry.AssetDecimals),
          everyMs: PaymentSettler.ChannelClaimSeconds * 1_000
        },
        watchEveryMs: PaymentSettler.ChannelWatchSeconds * 1_000,
        compareEveryMs: PaymentSettler.ReconcileSeconds * 1_000
      }
      const key = `channels-${network.name.replace(/[^A-Za-z0-9_-]/gu, "-")}`
      yield* Effect.forkScoped(
        supervise(`channels of ${network.name}`, leases.whileHeld({ key, holder: instance }, keep(keeper)))
      )
    }
  })
)

export interface Keeper {
  readonly network: ChannelNetwork
  readonly watches: KvBucket<ChannelWatch>
  readonly receiptSums: ReceiptSums
  readonly terms: ClaimTerms
  readonly watchEveryMs: number
  readonly compareEveryMs: number
}

/** The network's records by key, as far as they were followed; without the answers that they hold. */
type Known = Map<string, Channel>

/** When each record that holds an answer was charged. */
type Answered = Map<string, number>

/** Runs while the lease is held. */
const keep = Effect.fnUntraced(function* (keeper: Keeper) {
  const known: Known = new Map()
  const answered: Answered = new Map()
  // All of them before the first check: otherwise, changes of a channel not yet known would be skipped.
  yield* Stream.runForEach((yield* Channels).all, ({ key, value }) =>
    Effect.sync(() => note(keeper, { known, answered }, key, value))
  )
  const lastClaimMs = yield* Ref.make(yield* Clock.currentTimeMillis)
  const watch: WatchState = { block: undefined, movedAtMs: yield* Clock.currentTimeMillis }
  const watched = (yield* Metrics).gauge(channelWatchedAt)
  const once = Effect.gen(function* () {
    const seen = yield* look(keeper, known, watch)
    if (seen !== undefined) watched.set({ network: keeper.network.name }, Math.floor(seen.atMs / 1_000))
    yield* endLapsed(keeper, known)
    yield* writeLate(keeper, known)
    yield* claimDue(keeper, known, lastClaimMs)
    yield* forgetOld(keeper, known, answered)
  }).pipe(Effect.catch((error) => Effect.logWarning("channels could not be kept", error)))
  const comparing = compareChannels(keeper, known).pipe(
    Effect.catch((error) => Effect.logWarning("channels could not be compared with the chain", error)),
    Effect.delay(keeper.compareEveryMs),
    Effect.forever
  )
  yield* Effect.raceFirst(
    follow(keeper, { known, answered }),
    Effect.raceFirst(comparing, Effect.repeat(once, Schedule.spaced(keeper.watchEveryMs)))
  )
})

// A channel in use changes twice per call, and only its last record counts: a record that is replaced within a fraction
// of the interval between checks need not be sent at all.
const followedRun = { messagesMax: 256, withinMs: 100 }
const restMsMax = 1_000

/** Every record, and then every later one. */
const follow = Effect.fnUntraced(function* (keeper: Keeper, records: Records) {
  const restMs = Math.min(keeper.watchEveryMs / 3, restMsMax)
  yield* Stream.runForEach((yield* Channels).changes(1, { ...followedRun, restMs }), (run) =>
    Effect.sync(() => {
      for (const { key, entry } of run) if (Option.isSome(entry)) note(keeper, records, key, entry.value.value)
    })
  )
})

interface Records {
  readonly known: Known
  readonly answered: Answered
}

const note = ({ network }: Keeper, { known, answered }: Records, key: string, channel: Channel): void => {
  if (channel.network !== network.name) return
  known.set(key, withoutAnswer(channel))
  if (channel.ended?.answer === undefined) answered.delete(key)
  else answered.set(key, channel.chargedAtMs)
}

interface WatchState {
  block: number | undefined
  /** When the chain last had a new block. */
  movedAtMs: number
}

const look = Effect.fnUntraced(function* (
  keeper: Keeper,
  known: Known,
  watch: WatchState
): Effect.fn.Return<ChannelWatch | undefined, BusError | ChainUnavailable | ChannelRefused, Channels> {
  const { network, watches } = keeper
  const key = network.name.replace(":", ".")
  const nowMs = yield* Clock.currentTimeMillis
  const { block } = yield* network.contract.head
  const noted = yield* watches.get(key)
  const last = watch.block ?? (Option.isSome(noted) ? noted.value.value.block : Math.max(0, block - firstBlocks))
  // A chain that was reset is read again.
  const from = Math.max(0, Math.min(last, block) - overlapBlocks)
  const changed = yield* network.contract.changed(from, block)
  const ours = changed.flatMap((channelId) => {
    const channel = known.get(channelKeyOf({ network: network.name, channelId }))
    return channel === undefined ? [] : [{ network: network.name, channelId, config: channel.config }]
  })
  yield* Effect.forEach(ours, (channel) => mirror(network, channel), {
    concurrency: looksAtOnce,
    discard: true
  })
  if (watch.block !== block) watch.movedAtMs = nowMs
  watch.block = block
  if (nowMs - watch.movedAtMs > stillMs) return undefined
  const seen: ChannelWatch = { block, atMs: nowMs }
  yield* records(watches).overwrite(key, seen, revisionOf(noted))
  return seen
})

/** Work whose gateway is gone, and that nothing else has ended. */
const endLapsed = Effect.fnUntraced(function* ({ network }: Keeper, known: Known) {
  const channels = yield* Channels
  const nowMs = yield* Clock.currentTimeMillis
  const lapsed = [...known.values()].filter((channel) => isLapsed(channel, nowMs))
  yield* Effect.forEach(
    lapsed,
    ({ config }) => {
      const name = { network: network.name, channelId: channelIdIn(network.contract, config) }
      return Effect.ignore(channels.run(name, ChannelCommand.Lapse()))
    },
    { concurrency: lapsesAtOnce, discard: true }
  )
})

/** Receipts that no gateway has recorded: the channel is not in use now, or its gateway is gone. */
const writeLate = Effect.fnUntraced(function* ({ network }: Keeper, known: Known) {
  const owing = [...known.values()].filter((channel) => owedOf(channel).length > 0)
  yield* Effect.forEach(
    owing,
    (channel) => {
      const name = { network: network.name, channelId: channelIdIn(network.contract, channel.config) }
      return writeReceipts(name, channel, receiptsAfterMs).pipe(
        Effect.catch((error) => Effect.logWarning("receipts of a channel could not be written yet", error))
      )
    },
    { concurrency: receiptsAtOnce, discard: true }
  )
})

/** Answers of channels no longer in use: a record is never removed, but its answer is not kept forever. */
const forgetOld = Effect.fnUntraced(function* ({ network }: Keeper, known: Known, answered: Answered) {
  const channels = yield* Channels
  const beforeMs = (yield* Clock.currentTimeMillis) - answerKeptMs
  const old = [...answered].filter(([, chargedAtMs]) => chargedAtMs < beforeMs).map(([key]) => known.get(key))
  yield* Effect.forEach(
    old.filter((channel) => channel !== undefined).slice(0, forgottenAtOnce),
    ({ config }) => {
      const name = { network: network.name, channelId: channelIdIn(network.contract, config) }
      return Effect.ignore(channels.run(name, ChannelCommand.Forget({ beforeMs })))
    },
    { concurrency: lapsesAtOnce, discard: true }
  )
})

const claimDue = Effect.fnUntraced(function* (
  keeper: Keeper,
  known: Known,
  lastClaimMs: Ref.Ref<number>
): Effect.fn.Return<void, BusError | ChainUnavailable, Channels | Metrics> {
  const nowMs = yield* Clock.currentTimeMillis
  const reason = claimReason(known.values(), keeper.terms, nowMs, yield* Ref.get(lastClaimMs))
  if (reason === undefined) return
  const due = inOrder(known.values())
  yield* Effect.logInfo("channels are claimed").pipe(
    Effect.annotateLogs({ network: keeper.network.name, channels: due.length, reason })
  )
  // A claim has one signature, from the authorizer of all its channels.
  const byAuthorizer = Map.groupBy(due, ({ config }) => config.receiverAuthorizer.toLowerCase())
  for (const [, each] of byAuthorizer) for (const batch of batchesOf(each)) yield* claim(keeper, known, batch)
  yield* Ref.set(lastClaimMs, nowMs)
  yield* sweep(keeper)
})

/**
 * One transaction for all of them. If the contract would refuse it, the channels are read again, because one of them
 * may have lost its money since; then each half is tried, so that a channel that cannot be claimed does not block the
 * others.
 */
const claim = Effect.fnUntraced(function* (
  keeper: Keeper,
  known: Known,
  batch: ReadonlyArray<Channel>
): Effect.fn.Return<void, BusError | ChainUnavailable, Channels | Metrics> {
  const { network } = keeper
  const counter = (yield* Metrics).counter(channelTransactions)
  const rows = batch.map(claimableOf).filter((row) => row !== undefined)
  if (rows.length === 0) return
  const { contract } = network
  const authorizer = batch[0] && network.authorizerOf(batch[0].config)
  if (authorizer === undefined) {
    return yield* Effect.logError("channels cannot be claimed: the key of their authorizer is not configured").pipe(
      Effect.annotateLogs({ network: network.name, authorizer: batch[0]?.config.receiverAuthorizer })
    )
  }
  const signature = yield* authorizer.sign(claimBatchMessage(contract.separator, rows))
  const data = claimCall(rows, signature)
  const outcome = yield* Effect.result(
    Effect.andThen(contract.simulate(data), transact(network, { data, gas: claimGas(rows.length) }))
  )
  const refresh = Effect.forEach(batch, (channel) => lookAgain(keeper, known, channel), { concurrency: looksAtOnce })
  if (Result.isSuccess(outcome) && outcome.success._tag === "Made") {
    counter.inc({ network: network.name, kind: "claim", outcome: "made" })
    return yield* Effect.asVoid(refresh)
  }
  if (Result.isFailure(outcome) && outcome.failure._tag !== "Reverted") {
    counter.inc({ network: network.name, kind: "claim", outcome: "later" })
    if (outcome.failure._tag === "ChainUnavailable") return yield* outcome.failure
    return yield* Effect.logWarning("a claim of channels is pending", outcome.failure)
  }
  counter.inc({ network: network.name, kind: "claim", outcome: "refused" })
  const renewed = yield* refresh
  if (batch.length === 1) {
    return yield* Effect.logError("a channel cannot be claimed", outcome).pipe(
      Effect.annotateLogs({ network: network.name, payer: batch[0]?.config.payer })
    )
  }
  const middle = Math.ceil(renewed.length / 2)
  yield* claim(keeper, known, renewed.slice(0, middle))
  yield* claim(keeper, known, renewed.slice(middle))
})

const lookAgain = Effect.fnUntraced(function* (
  { network }: Keeper,
  known: Known,
  { config }: Channel
): Effect.fn.Return<Channel, BusError | ChainUnavailable, Channels> {
  const name = { network: network.name, channelId: channelIdIn(network.contract, config) }
  const renewed = yield* mirror(network, { ...name, config }).pipe(
    Effect.andThen((yield* Channels).read(name)),
    Effect.catchTag("ChannelRefused", () => Effect.succeedNone)
  )
  const channel = Option.getOrUndefined(renewed)
  if (channel === undefined) return yield* Effect.die(new Error(`the record of channel ${name.channelId} is gone`))
  known.set(channelKeyOf(name), withoutAnswer(channel))
  return channel
})

/** Moves everything claimed to the receiving account, in one transfer. */
const sweep = Effect.fnUntraced(function* ({ network }: Keeper) {
  const { contract, entry } = network
  const { totalClaimed, totalSettled } = yield* contract.totals(entry.PayTo, entry.Asset)
  if (totalClaimed <= totalSettled) return
  const counter = (yield* Metrics).counter(channelTransactions)
  const outcome = yield* Effect.result(transact(network, { data: settleCall(entry.PayTo, entry.Asset), gas: sweepGas }))
  const isMade = Result.isSuccess(outcome) && outcome.success._tag === "Made"
  counter.inc({ network: network.name, kind: "sweep", outcome: isMade ? "made" : "later" })
  if (!isMade || outcome.success._tag !== "Made") {
    return yield* Effect.logWarning("what was claimed of channels could not be moved yet", outcome)
  }
  const units = sweptIn(outcome.success.receipt.logs).toString()
  yield* Effect.logInfo("what was claimed of channels has arrived").pipe(
    Effect.annotateLogs({ network: network.name, units })
  )
})
