/**
 * The role payment-settler: paid calls become transfers on a chain, and receipts.
 *
 * in: jobs of `settlements.<network>` (SETTLEMENTS), a consumer per network shared by all replicas; payments that a
 * gateway in the same process hands over; operators' orders about the books on `payments.books` and of refunds on
 * `payments.refunds`, and gateways' orders about payment channels on `payments.channels` (queue groups)
 * out: transactions to the chains, or calls to a facilitator; `receipts.<network>.<payer>`; outcomes to the mailboxes
 * of waiting gateways
 * state: claims and the reconciliation's checkpoints in KV `authorizations`, its findings in KV `payment-books`,
 * refunds in KV `payment-refunds`, keys in KV `leases`; payment channels in KV `channels`, and up to when the chain is
 * watched for them in KV `channel-watches`
 * failure policy: an unknown outcome is looked up on the chain until it is known; a dead settler's jobs go to another
 * after 5 s and its keys after 3 s; claims whose holders are gone are swept; chain and receipts are reconciled
 */
import { Effect, Layer } from "effect"
import { Mailbox } from "#bus"
import { Configuration } from "#configuration"
import { supervise } from "#runtime"
import { Channels, claimOptionsOf, Claims, networkChecks, sweepClaims, sweepTimesOf } from "#payments"
import { ChannelNetworks } from "./channels/ChannelNetworks.ts"
import { channelKeeper } from "./channels/channel-keeper.ts"
import { answerChannelOrders } from "./channels/channel-orders.ts"
import { feeChecks } from "./fee-checks.ts"
import { Books } from "./reconciliation/Books.ts"
import { bookOrders } from "./reconciliation/orders.ts"
import { reconciler } from "./reconciliation/reconciler.ts"
import { refundOrders } from "./refunds/refund-orders.ts"
import { Refunds } from "./refunds/Refunds.ts"
import { localSettlement, settlementJobs } from "./settlements.ts"
import { Ledger } from "./ledger.ts"
import { Networks } from "./networks.ts"
import { SettlerKeys } from "./settler-keys.ts"
import { Settler } from "./settler.ts"

const sweeping = Layer.effectDiscard(
  Effect.gen(function* () {
    const { Payments, PaymentSettler } = yield* Configuration
    const { instance } = yield* Mailbox
    const everyMs = PaymentSettler.SweepSeconds * 1_000
    const sweep = sweepClaims({ holder: instance, times: sweepTimesOf(Payments), everyMs })
    yield* Effect.forkScoped(supervise("claim sweep", sweep))
  })
)

const reaching = Layer.effectDiscard(Effect.flatMap(Networks, (networks) => networkChecks(networks.values())))

const configuredClaims = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments)))
)

/** Needs the bus, the egress and the runtime. */
export const paymentSettler = Layer.mergeAll(
  settlementJobs,
  localSettlement,
  reconciler,
  bookOrders,
  refundOrders,
  sweeping,
  answerChannelOrders,
  channelKeeper,
  feeChecks,
  reaching
).pipe(
  Layer.provide(Layer.mergeAll(ChannelNetworks.layer, Channels.layer)),
  Layer.provide(Settler.layer),
  Layer.provide(Layer.mergeAll(Books.layer, Refunds.layer)),
  Layer.provide(Layer.mergeAll(Networks.layer, Ledger.layer, configuredClaims)),
  Layer.provide(SettlerKeys.layer)
)
