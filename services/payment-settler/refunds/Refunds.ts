/**
 * Orders refunds and makes them. An order is stored first, by one write that only one settler can win; then the chain
 * is asked, and only an unused authorization is sent. A settler that dies at any point leaves the order, and its
 * successor finds on the chain how far it got. A refund has failed only when the chain can no longer make it, or when
 * nothing was ever signed for it: its money can then be ordered again.
 */
import { randomBytes } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import { type BusError, kept, Kv, type KvBucket, type KvEntry, type Records, records, replaced } from "#bus"
import {
  inOneCase,
  isSameAddress,
  type Refund,
  type RefundAnswer,
  RefundedPayment,
  type RefundOrder
} from "#payments/contract"
import { Configuration } from "#configuration"
import { InvalidConfiguration, Metrics } from "#runtime"
import {
  authorizationMessage,
  ChainUnavailable,
  type CheckedPayment,
  evmChainIdOf,
  type PaymentScheme,
  type SettlerKey
} from "#payments"
import { Ledger } from "../ledger.ts"
import { refundedUsd, refunds as refundsTotal } from "../metrics.ts"
import { Networks, type SettlingNetwork } from "../networks.ts"
import { SettlerKeys } from "../settler-keys.ts"
import { asPayment, authorizationOf, isOpen, refundOf, refundReceipt, withChanged, withOrdered } from "./refund.ts"

export interface RefundingNetwork extends SettlingNetwork {
  readonly exact: PaymentScheme
  /** The account that sends refunds. */
  readonly refunder: SettlerKey
}

type Networked = ReadonlyMap<string, RefundingNetwork>
type Bucket = KvBucket<RefundedPayment>
type Payments = Records<RefundedPayment>

/** A refund's name among those of its payment. */
interface RefundName {
  readonly claimKey: string
  readonly key: string
}

export class Refunds extends Context.Service<
  Refunds,
  {
    /** The networks on which payments are refunded. */
    readonly networks: Networked
    readonly bucket: Bucket
    readonly order: (order: RefundOrder) => Effect.Effect<RefundAnswer, BusError>
    /** Continues a refund. Fails while its end is not known; then it must be called again. */
    readonly carry: (name: RefundName) => Effect.Effect<void, BusError | ChainUnavailable>
    readonly find: (name: RefundName) => Effect.Effect<Option.Option<Refund>, BusError>
  }
>()("starling/payment-settler/Refunds") {
  static readonly layer = Layer.effect(
    Refunds,
    Effect.gen(function* () {
      const networks = yield* refundingNetworks
      const bucket = yield* (yield* Kv).open("payment-refunds", RefundedPayment)
      const metrics = yield* Metrics
      const total = metrics.counter(refundsTotal)
      for (const network of networks.keys()) total.begin({ network })
      const usd = metrics.counter(refundedUsd)
      const parts: RefundServices = {
        networks,
        bucket,
        payments: records(bucket, { keptMs: (payment) => (isOpen(payment) ? undefined : endedKeptMs) }),
        ledger: yield* Ledger,
        ended: ({ receipt }, { amount }, outcome) => {
          total.inc({ network: receipt.network, outcome })
          const decimals = networks.get(receipt.network)?.entry.AssetDecimals ?? 6
          if (outcome === "made") usd.inc({ model: receipt.model ?? "" }, Number(amount) / 10 ** decimals)
        }
      }
      return Refunds.of({
        networks,
        bucket,
        order: (order) => ordered(parts, order),
        carry: (name) => carry(parts, name),
        find: ({ claimKey, key }) =>
          Effect.map(
            bucket.get(claimKey),
            Option.flatMapNullishOr(({ value }) => refundOf(value, key))
          )
      })
    })
  )
}

interface RefundServices {
  readonly networks: Networked
  readonly bucket: Bucket
  readonly payments: Payments
  readonly ledger: Ledger["Service"]
  readonly ended: (payment: RefundedPayment, refund: Refund, outcome: "made" | "failed") => void
}

const refundingNetworks = Effect.gen(function* () {
  const { Payments } = yield* Configuration
  const settling = yield* Networks
  const { refunderOf } = yield* SettlerKeys
  const opened: Array<readonly [string, RefundingNetwork]> = []
  for (const [index, terms] of Payments.Refunds.entries()) {
    const network = settling.get(terms.Network)
    const exact = network?.schemes.exact
    if (network === undefined || exact === undefined) continue
    const refunder = yield* Effect.mapError(refunderOf(terms, index), (faults) => new InvalidConfiguration({ faults }))
    opened.push([terms.Network, { ...network, exact, refunder }])
  }
  return new Map(opened)
})

const refusedFor = (why: string): RefundAnswer => ({ _tag: "Refused", why })

const ordered = Effect.fn("Refunds.order")(function* (
  { networks, payments, ledger }: RefundServices,
  order: RefundOrder
): Effect.fn.Return<RefundAnswer, BusError> {
  const receipt = Option.getOrUndefined(yield* ledger.at(order.sequence))
  if (receipt?.claimKey !== order.claimKey) return refusedFor("the receipt no longer exists")
  if (receipt.outcome !== "settled") return refusedFor("it is no receipt of what was paid")
  const network = networks.get(receipt.network)
  if (network === undefined) {
    return refusedFor(`no account that pays refunds is configured on ${receipt.network} (Payments.Refunds)`)
  }
  if (!isSameAddress(receipt.network, receipt.asset, network.entry.Asset)) {
    return refusedFor(`it was paid in ${receipt.asset}, and the token of ${receipt.network} is ${network.entry.Asset}`)
  }
  const nowMs = yield* Clock.currentTimeMillis
  const ordering = { order, from: network.refunder.address, nonce: `0x${randomBytes(32).toString("hex")}`, nowMs }
  const written = yield* Effect.result(
    payments.change(order.claimKey, (before) =>
      Result.map(withOrdered(before ?? { receipt, refunds: [] }, ordering), (after) =>
        after === before ? { answer: after } : { answer: after, next: after }
      )
    )
  )
  if (Result.isFailure(written)) {
    return typeof written.failure === "string" ? refusedFor(written.failure) : yield* written.failure
  }
  const refund = refundOf(written.success.answer, order.key)
  return refund === undefined ? refusedFor("it is gone") : { _tag: "Done", refund }
})

// Longer than the payment's receipt is kept, after which no refund of it can be ordered.
const endedKeptMs = 400 * 86_400_000

/** A refund that has not ended, as last read. */
interface Open extends RefundName {
  readonly network: RefundingNetwork
  readonly entry: KvEntry<RefundedPayment>
  readonly refund: Refund
}

const unavailable = (detail: string) => new ChainUnavailable({ operation: "make a refund", detail })

const carry = Effect.fn("Refunds.carry")(function* (
  parts: RefundServices,
  { claimKey, key }: RefundName
): Effect.fn.Return<void, BusError | ChainUnavailable> {
  const entry = Option.getOrUndefined(yield* parts.bucket.get(claimKey))
  const refund = entry && refundOf(entry.value, key)
  if (entry === undefined || refund?.state !== "ordered") return
  const network = parts.networks.get(entry.value.receipt.network)
  if (network === undefined) return yield* unavailable("its network no longer has an account that pays refunds")
  const open: Open = { claimKey, key, network, entry, refund }
  const status = yield* network.exact.look(yield* checked(open), refund.transaction)
  switch (status._tag) {
    case "Settled":
      return yield* endMade(parts, open, status.transaction)
    case "Spent":
      return yield* endFailed(parts, open, "the account that pays refunds has cancelled it")
    case "Expired":
      return yield* endFailed(parts, open, "the chain did not make it within its time")
    case "Undecided":
      return yield* unavailable(status.detail)
    case "Unused":
      return yield* send(parts, open)
  }
})

/** Checked as of the time of the order, from which its period counts. */
const checked = ({ network, entry, refund }: Open, signature?: string) => {
  const { payload, requirements } = asPayment(entry.value, refund, {
    network: network.entry,
    ...(signature === undefined ? {} : { signature })
  })
  const payment = network.exact.checkAgain(payload, requirements, refund.orderedAtMs)
  return Result.isSuccess(payment) ? Effect.succeed(payment.success) : unavailable(payment.failure.reason)
}

const send = Effect.fnUntraced(function* (
  parts: RefundServices,
  open: Open
): Effect.fn.Return<void, BusError | ChainUnavailable> {
  const { network, refund, entry } = open
  if (inOneCase(network.entry.Network, network.refunder.address) !== inOneCase(network.entry.Network, refund.from)) {
    return yield* unavailable(`the key of ${refund.from} is no longer configured`)
  }
  const { AssetName: name, AssetVersion: version, Asset: asset, Network } = network.entry
  const domain = { name, version, chainId: evmChainIdOf(Network), asset }
  const signature = yield* network.refunder.sign(authorizationMessage(domain, authorizationOf(entry.value, refund)))
  const payment = yield* checked(open, `0x${Buffer.from(signature).toString("hex")}`)
  const fits = yield* Effect.result(network.exact.recheck(payment))
  if (Result.isFailure(fits)) {
    if (fits.failure._tag === "ChainUnavailable") return yield* fits.failure
    // A refund that was sent earlier can still be made: only the chain ends it.
    if (refund.transaction !== null) return yield* unavailable(fits.failure.message)
    return yield* endFailed(parts, open, `the chain would refuse it: ${fits.failure.reason}`)
  }
  yield* endMade(parts, open, yield* sent(parts, open, payment))
})

/** The transaction's name is stored before it is sent. The key's lease is ended whatever happens in between. */
const sent = Effect.fnUntraced(function* (
  { payments }: RefundServices,
  { claimKey, refund, network: { pool, exact } }: Open,
  payment: CheckedPayment
): Effect.fn.Return<string, BusError | ChainUnavailable> {
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const signer = yield* pool.take(null)
      const unsent = () => signer.end("unsent")
      const prepared = yield* Effect.onError(restore(exact.prepare(payment, signer.lease)), unsent)
      const noting = alter(payments, { claimKey, refund }, { transaction: prepared.transaction })
      const isOurs = (yield* Effect.onError(noting, unsent)) !== undefined
      if (!isOurs) {
        yield* unsent()
        return yield* elsewhere
      }
      const result = yield* Effect.onInterrupt(Effect.result(restore(exact.broadcast(prepared, payment))), () =>
        signer.end("unknown")
      )
      if (Result.isSuccess(result)) {
        yield* signer.end("used")
        return result.success.transaction
      }
      const { failure } = result
      if (failure._tag === "ChainUnavailable") yield* unsent()
      else yield* signer.end(failure._tag === "SettlementPending" || failure.transaction === null ? "unknown" : "used")
      return yield* unavailable(failure.message)
    })
  )
})

/** The receipt comes first: a refund that has ended as made has its receipt. */
const endMade = Effect.fnUntraced(function* (parts: RefundServices, open: Open, transaction: string) {
  const atMs = yield* Clock.currentTimeMillis
  // The broker remembers a written id for two minutes; within `rememberedMs` it surely still does.
  const mayExist = atMs - open.refund.orderedAtMs > rememberedMs
  yield* parts.ledger.writeRefund(refundReceipt(open.entry.value, open.refund, { transaction, atMs }), mayExist)
  yield* end(parts, open, { state: "made", transaction, endedAtMs: atMs })
})

const rememberedMs = 60_000

const endFailed = Effect.fnUntraced(function* (parts: RefundServices, open: Open, fault: string) {
  yield* Effect.logWarning("a refund has failed, and no money moved").pipe(
    Effect.annotateLogs({ claim: open.claimKey, refund: open.key, fault })
  )
  yield* end(parts, open, { state: "failed", endedAtMs: yield* Clock.currentTimeMillis, fault: fault.slice(0, 500) })
})

const end = Effect.fnUntraced(function* (
  { payments, ended }: RefundServices,
  open: Open,
  change: Partial<Refund> & { readonly state: "made" | "failed" }
): Effect.fn.Return<void, BusError | ChainUnavailable> {
  const after = yield* alter(payments, open, change)
  if (after !== undefined) return ended(after, open.refund, change.state)
  if (change.state === "failed") return yield* elsewhere
})

const elsewhere = unavailable("another settler continues it")

/**
 * Changes a refund that is as it was read, whatever happened to the payment's other refunds: failing one for which
 * nothing was signed must not collide with another that has just been signed. A refund made on the chain is made,
 * whoever signed last. Undefined if another settler has changed it.
 */
const alter = (
  payments: Payments,
  { claimKey, refund }: Pick<Open, "claimKey" | "refund">,
  change: Partial<Refund>
): Effect.Effect<RefundedPayment | undefined, BusError> =>
  Effect.map(
    payments.change(claimKey, (before) => {
      const present = before && refundOf(before, refund.key)
      if (before === undefined || present === undefined) return kept(undefined)
      if (present.transaction !== refund.transaction && change.state !== "made") return kept(undefined)
      const after = withChanged(before, refund.key, change)
      return after === undefined ? kept(undefined) : replaced(after)
    }),
    ({ answer }) => answer
  )
