/**
 * The facilitator's part of payments by channel (x402's scheme `batch-settlement`), for other servers whose channels
 * are paid to us: only they know what each channel was charged, and nothing about them is stored here. A payment is
 * checked against the channel on the chain. The settlers send a server's signed claims, sweeps and refunds unchanged.
 * No key of ours signs for such a channel, so none is offered as its `receiverAuthorizer`: otherwise anyone who can
 * reach this API could have its money refunded.
 */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { Requests } from "#bus"
import {
  type ChannelConfig,
  type ChannelFacilitatorRequest,
  type ChannelOrder,
  type ChannelOrderAnswer,
  ChannelSettlement,
  isSameAddress,
  type PaymentRequirements,
  type SettlementOutcome,
  type VerifyAnswer
} from "#payments/contract"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import {
  type ChannelContract,
  channelOrderAnswerCodec,
  channelOrderCodec,
  channelVerifier,
  type CheckedVoucher,
  codeOf,
  depositCall,
  evmChainIdOf,
  newTicket,
  openChannelContract,
  type SeenChannel,
  signedDeposit
} from "#payments"

type Refused = Extract<VerifyAnswer, { readonly _tag: "Refused" }>
type Unavailable = Extract<VerifyAnswer, { readonly _tag: "Unavailable" }>
type Unsettled = Exclude<SettlementOutcome, { readonly _tag: "Settled" }>

/** A channel's state in the form that servers mirror. */
type ChannelSnapshot = Readonly<Record<string, string | number>>

/** A payment by channel that would be good. */
export interface VerifiedChannel {
  readonly payer: string
  readonly extra: ChannelSnapshot
}

/** What was sent for a server. `amount` is empty if no money moved. */
export interface SettledChannel {
  readonly transaction: string
  readonly amount: string
  readonly payer: string | null
  /** Null if it concerns many channels. */
  readonly extra: { readonly channelState: ChannelSnapshot } | null
}

export class FacilitatorChannels extends Context.Service<
  FacilitatorChannels,
  {
    /** The networks whose channels are verified and settled. */
    readonly networks: ReadonlySet<string>
    readonly verify: (request: ChannelFacilitatorRequest) => Effect.Effect<VerifiedChannel, Refused | Unavailable>
    readonly settle: (request: ChannelFacilitatorRequest) => Effect.Effect<SettledChannel, Unsettled>
  }
>()("starling/payment-verifier/FacilitatorChannels") {
  static readonly layer = Layer.effect(
    FacilitatorChannels,
    Effect.gen(function* () {
      const networks = yield* foreignNetworks
      const requests = yield* Requests
      const send = (order: ChannelOrder) =>
        Effect.matchEager(requests.ask(asking, order), {
          onSuccess: (answer) => answer,
          // The order may have been accepted.
          onFailure: ({ message }): ChannelOrderAnswer => ({ _tag: "Unavailable", detail: message.slice(0, 1_024) })
        })

      const verify = Effect.fn("FacilitatorChannels.verify")(function* (request: ChannelFacilitatorRequest) {
        const { network, voucher, seen } = yield* checked(networks, request)
        const { config, channelId, deposit } = voucher
        if (deposit !== undefined) {
          const data = depositCall(config, BigInt(deposit.amount), signedDeposit(deposit.authorization))
          yield* Effect.mapError(network.contract.simulate(data), (error) =>
            error._tag === "ChainUnavailable"
              ? unavailable(error.message)
              : refused(evm("deposit_simulation_failed"), config.payer, error.text)
          )
        }
        return { payer: config.payer, extra: snapshotOf(channelId, seen) }
      })

      /** The settlers simulate it: a deposit made before gets the same answer again. */
      const makeDeposit = Effect.fnUntraced(function* (request: ChannelFacilitatorRequest) {
        const { network, voucher } = yield* Effect.mapError(checked(networks, request), (error) =>
          error._tag === "Refused" ? unsettled(error.reason) : unsettled(evm("channel_state_read_failed"))
        )
        const { channelId, config, payload, deposit } = voucher
        if (deposit === undefined) return yield* Effect.fail(unsettled(evm("deposit_payload")))
        const { maxClaimableAmount: maxClaimable } = payload.voucher
        const name = { network: voucher.network, channelId, config }
        const answer = yield* send({ _tag: "Deposit", ...name, ...deposit, maxClaimable, isForeign: true })
        const { transaction } = yield* doneOf(answer)
        const of = { network, channelId, payer: config.payer }
        return yield* withState(of, { transaction: transaction ?? "", amount: deposit.amount })
      })

      const sendSettlement = Effect.fnUntraced(function* (request: ChannelFacilitatorRequest) {
        const { network, settlement } = yield* Effect.fromResult(settlementIn(networks, request))
        const sending = send({ _tag: "Send", network: network.name, settlement, ticket: newTicket() })
        const { transaction, amount } = yield* doneOf(yield* sending)
        const sent = { transaction: transaction ?? "", amount: settlement.type === "claim" ? "" : amount }
        if (settlement.type !== "refund") return { ...sent, payer: null, extra: null }
        const { voucher, channelConfig } = settlement
        return yield* withState({ network, channelId: voucher.channelId, payer: channelConfig.payer }, sent)
      })

      const settle = Effect.fn("FacilitatorChannels.settle")(function* (request: ChannelFacilitatorRequest) {
        const isDeposit = request.paymentPayload.payload["type"] === "deposit"
        return yield* isDeposit ? makeDeposit(request) : sendSettlement(request)
      })
      return FacilitatorChannels.of({ networks: new Set(networks.keys()), verify, settle })
    })
  )
}

interface ForeignNetwork {
  readonly name: string
  readonly contract: ChannelContract
  readonly check: ReturnType<typeof channelVerifier>
}

const foreignNetworks = Effect.gen(function* () {
  const { Payments } = yield* Configuration
  const opened = new Map<string, ForeignNetwork>()
  for (const { Network: name } of Payments.Channels) {
    const entry = Payments.Networks.find((each) => each.Network === name)
    if (entry === undefined) continue
    const contract = yield* openChannelContract({ network: name, rpcUrls: entry.RpcUrls })
    opened.set(name, { name, contract, check: channelVerifier(name, evmChainIdOf(name)) })
  }
  return opened
})

// As long as a settler waits for a block; it reports twice a second that it is working.
const asking = {
  subject: subjects.paymentsChannels,
  question: channelOrderCodec,
  answer: channelOrderAnswerCodec,
  timeoutMs: 30_000,
  silence: { msMax: 2_000, onSilence: Effect.void }
}

const evm = (name: string) => `invalid_batch_settlement_evm_${name}`

const refused = (reason: string, payer: string | null = null, detail?: string): Refused => ({
  _tag: "Refused",
  code: codeOf(reason),
  reason,
  payer,
  ...(detail === undefined ? {} : { detail: detail.slice(0, 1_024) })
})

const snapshotOf = (channelId: string, seen: SeenChannel): ChannelSnapshot => ({
  channelId,
  balance: seen.balance.toString(),
  totalClaimed: seen.totalClaimed.toString(),
  withdrawRequestedAt: seen.withdrawRequestedAt,
  refundNonce: seen.refundNonce.toString()
})

/** What the channel on the chain has against a payment with valid signatures; `amount`: the maximum of its call. */
export const chainFault = (
  { payload, deposit }: Pick<CheckedVoucher, "payload" | "deposit">,
  { balance, totalClaimed }: Pick<SeenChannel, "balance" | "totalClaimed">,
  amount: bigint
): string | undefined => {
  const signed = BigInt(payload.voucher.maxClaimableAmount)
  const there = balance + BigInt(deposit?.amount ?? "0")
  if (there === 0n) return evm("channel_not_found")
  if (signed > there) return evm("cumulative_exceeds_balance")
  const least = payload.type === "refund" ? totalClaimed : totalClaimed + amount
  return signed < least ? evm("cumulative_below_claimed") : undefined
}

const unavailable = (reason: string): Unavailable => ({
  _tag: "Unavailable",
  retryAfterSeconds: 2,
  reason: reason.slice(0, 256)
})

/** A payment with valid signatures that its channel covers. */
const checked = Effect.fnUntraced(function* (
  networks: ReadonlyMap<string, ForeignNetwork>,
  { paymentPayload, paymentRequirements }: ChannelFacilitatorRequest
): Effect.fn.Return<
  { readonly network: ForeignNetwork; readonly voucher: CheckedVoucher; readonly seen: SeenChannel },
  Refused | Unavailable
> {
  const network = networks.get(paymentRequirements.network)
  if (network === undefined) return yield* Effect.fail(refused(evm("scheme")))
  if (paymentPayload.accepted.network !== paymentRequirements.network) {
    return yield* Effect.fail(refused(evm("network_mismatch")))
  }
  const found = network.check(paymentPayload, paymentRequirements, yield* Clock.currentTimeMillis)
  if (Result.isFailure(found)) {
    const { reason, payer, detail } = found.failure
    return yield* Effect.fail(refused(reason, payer, detail))
  }
  const voucher = found.success
  const seen = yield* Effect.mapError(network.contract.state(voucher.channelId), ({ message }) => unavailable(message))
  const fault = chainFault(voucher, seen, BigInt(paymentRequirements.amount))
  if (fault !== undefined) return yield* Effect.fail(refused(fault, voucher.config.payer))
  return { network, voucher, seen }
})

const decodeSettlement = Schema.decodeUnknownResult(ChannelSettlement)
const settlementTypes = ["claim", "settle", "refund"]

/** What another server asks for, if it pays us. */
const settlementIn = (
  networks: ReadonlyMap<string, ForeignNetwork>,
  { paymentPayload: { payload }, paymentRequirements }: ChannelFacilitatorRequest
) => {
  const network = networks.get(paymentRequirements.network)
  if (network === undefined) return Result.fail(unsettled(evm("scheme")))
  const type = String(payload["type"])
  if (!settlementTypes.includes(type)) return Result.fail(unsettled(evm("unknown_settle_action")))
  const decoded = decodeSettlement(payload)
  if (Result.isFailure(decoded)) return Result.fail(unsettled(evm(`${type}_payload`)))
  const settlement = decoded.success
  const fault = termsFault(settlement, paymentRequirements)
  return fault === undefined ? Result.succeed({ network, settlement }) : Result.fail(unsettled(fault))
}

/** Only payments to us in our token are worth our fees. */
export const termsFault = (
  settlement: ChannelSettlement,
  { network, payTo, asset }: Pick<PaymentRequirements, "network" | "payTo" | "asset">
): string | undefined => {
  const isOurs = (receiver: string, token: string) =>
    !isSameAddress(network, receiver, payTo)
      ? evm("receiver_mismatch")
      : isSameAddress(network, token, asset)
        ? undefined
        : evm("token_mismatch")
  if (settlement.type === "settle") return isOurs(settlement.receiver, settlement.token)
  const isUnsigned = settlement.claims.length > 0 && settlement.claimAuthorizerSignature === undefined
  if (isUnsigned) return evm(`${settlement.type}_payload`)
  const rows: ReadonlyArray<ChannelConfig> = settlement.claims.map(({ voucher }) => voucher.channel)
  const all = settlement.type === "refund" ? [settlement.channelConfig, ...rows] : rows
  return all.map(({ receiver, token }) => isOurs(receiver, token)).find((fault) => fault !== undefined)
}

const unsettled = (reason: string): Unsettled => ({ _tag: "Refused", code: codeOf(reason), reason })

const doneOf = (answer: ChannelOrderAnswer) => {
  switch (answer._tag) {
    case "Done":
      return Effect.succeed(answer)
    case "Refused":
      return Effect.fail(unsettled(answer.reason))
    case "Unavailable":
      return Effect.as(
        Effect.logWarning("what another server has sent is not known to be made", answer.detail),
        null
      ).pipe(Effect.andThen(Effect.fail<Unsettled>({ _tag: "Pending", transaction: null })))
  }
}

interface Settled {
  readonly network: ForeignNetwork
  readonly channelId: string
  readonly payer: string
}

/** With the channel's current state; if it cannot be read, its server looks it up. */
const withState = (
  { network: { contract }, channelId, payer }: Settled,
  sent: Pick<SettledChannel, "transaction" | "amount">
): Effect.Effect<SettledChannel> =>
  Effect.match(contract.state(channelId), {
    onSuccess: (seen) => ({ ...sent, payer, extra: { channelState: snapshotOf(channelId, seen) } }),
    onFailure: () => ({ ...sent, payer, extra: null })
  })
