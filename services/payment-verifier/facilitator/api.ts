/**
 * The facilitator's API (x402 version 2) for other x402 servers: `/verify` answers whether a payment would be settled
 * and stores nothing; `/settle` has it settled. It accepts only payments to the configured accounts in the configured
 * tokens, or unknown callers would spend our fees. It does not authenticate callers: bind it where only they can reach
 * it.
 *
 * A verification that cannot be made and an undecided settlement are reported by the status, because the only word in
 * the bodies for an unknown outcome is `settlement_pending`.
 */
import { Effect, Layer, Result, Schema } from "effect"
import { boundedDecoder, type Fault, pointedFaults } from "#base"
import {
  ChannelFacilitatorRequest,
  channelScheme,
  FacilitatorRequest,
  isSameAddress,
  type PaymentRequirements,
  type SettlementOutcome,
  type SettleResponse,
  type SupportedResponse,
  type VerifyAnswer,
  type VerifyResponse,
  x402Version
} from "#payments/contract"
import { sanitise } from "#egress"
import { type Answer, HttpListener, jsonAnswer, readJsonValue, route } from "#http"
import { Addresses } from "#runtime"
import { Configuration } from "#configuration"
import { offerOf, type OpenNetwork, type PaymentRefused, type SettlerKey, statedAmount, TokenWatch } from "#payments"
import { type Checked, Networks, Verifier } from "../verifier.ts"
import { FacilitatorChannels, type SettledChannel, type VerifiedChannel } from "./channels.ts"
import { FacilitatorSettlements } from "./settlements.ts"

type Refused = Extract<VerifyAnswer, { readonly _tag: "Refused" }>

// A payment is about 1 kB, and its header's limit is eight. A claim of a hundred channels is 80 kB.
const bodyBytesMax = 131_072

const unstored = ({ status, headers, body }: FacilitatorAnswer<unknown>): Answer =>
  jsonAnswer(body, { status, headers: { "cache-control": "no-store", ...headers } })

const readRequest = Effect.fnUntraced(function* () {
  const json = yield* readJsonValue({ bytesMax: bodyBytesMax })
  return isByChannel(json) ? readChannelRequest(json) : readFacilitatorRequest(json)
})

const isByChannel = Schema.is(
  Schema.Struct({ paymentRequirements: Schema.Struct({ scheme: Schema.Literal(channelScheme) }) })
)

const isChannelRequest = (
  request: FacilitatorRequest | ChannelFacilitatorRequest
): request is ChannelFacilitatorRequest => request.paymentRequirements.scheme === channelScheme

const foreignTerms = (networks: ReadonlyMap<string, OpenNetwork>, { network, asset, payTo }: PaymentRequirements) => {
  const entry = networks.get(network)?.entry
  if (entry === undefined) return "invalid_network"
  const isSame = (one: string, other: string) => isSameAddress(network, one, other)
  return isSame(entry.Asset, asset) && isSame(entry.PayTo, payTo) ? undefined : "invalid_payment_requirements"
}

const refusal = (reason: string): Refused => ({ _tag: "Refused", code: "PAYMENT_INVALID", reason, payer: null })

const faultText = (faults: ReadonlyArray<{ readonly path: string; readonly message: string }>) =>
  faults
    .map(({ path, message }) => `${path}: ${message}`)
    .join("; ")
    .slice(0, 1_024)

const answerVerify = Effect.gen(function* () {
  const request = yield* readRequest()
  if (request._tag === "Failure") {
    const invalidMessage = faultText(request.failure)
    return unstored({
      status: 400,
      headers: {},
      body: { isValid: false, invalidReason: "invalid_payload", invalidMessage }
    })
  }
  const { paymentPayload, paymentRequirements } = request.success
  const foreign = foreignTerms(yield* Networks, paymentRequirements)
  if (foreign !== undefined) return unstored(verifyAnswer(refusal(foreign)))
  if (isChannelRequest(request.success)) {
    const verified = (yield* FacilitatorChannels).verify(request.success).pipe(
      Effect.map((good) => ({ _tag: "Verified" as const, ...good })),
      Effect.catch((refused) => Effect.succeed(refused))
    )
    return unstored(verifyAnswer(yield* verified))
  }
  const verdict = yield* (yield* Verifier).wouldSettle(paymentPayload, paymentRequirements).pipe(
    Effect.map(({ payment }) => ({ _tag: "Verified" as const, payer: payment.payer })),
    Effect.catch((refused) => Effect.succeed(refused))
  )
  return unstored(verifyAnswer(verdict))
})

const answerSettle = Effect.gen(function* () {
  const request = yield* readRequest()
  if (request._tag === "Failure") {
    const errorMessage = faultText(request.failure)
    return unstored({
      status: 400,
      headers: {},
      body: { success: false, errorReason: "invalid_payload", errorMessage, transaction: "", network: "" }
    })
  }
  const { paymentRequirements } = request.success
  const foreign = foreignTerms(yield* Networks, paymentRequirements)
  if (foreign === undefined && isChannelRequest(request.success)) {
    const settling = Effect.matchEager((yield* FacilitatorChannels).settle(request.success), {
      onSuccess: (sent) => sentAnswer(sent, paymentRequirements),
      onFailure: (outcome) => settleAnswer(outcome, paymentRequirements, null)
    })
    return unstored(yield* settling)
  }
  const [outcome, payer] = foreign === undefined ? yield* settled(request.success) : [refusedFor(foreign), null]
  return unstored(settleAnswer(outcome, paymentRequirements, payer))
})

const refusedFor = (reason: string): SettlementOutcome => ({ _tag: "Refused", code: "PAYMENT_INVALID", reason })

const settled = Effect.fnUntraced(function* (request: FacilitatorRequest) {
  const { check, wouldSettle } = yield* Verifier
  const { settle } = yield* FacilitatorSettlements
  const { paymentPayload, paymentRequirements } = request
  // The signed amount is checked as signed; the requirements of a settlement state what to charge of it.
  const amount = statedAmount(paymentPayload) ?? paymentRequirements.amount
  const signed = { ...paymentRequirements, amount }
  const checked = yield* check(paymentPayload, signed).pipe(
    // A caller must not tie up the money of a payer who has not signed.
    Effect.tap(({ payment }) => (payment.isUnproven === true ? wouldSettle(paymentPayload, signed) : Effect.void)),
    Effect.flatMap((one) => Effect.fromResult(charged(one, BigInt(paymentRequirements.amount)))),
    Effect.result
  )
  if (checked._tag === "Failure") {
    const { failure } = checked
    if (failure._tag === "Unavailable") return [refusedFor("unexpected_settle_error"), null] as const
    const { code, reason, payer } = failure
    return [{ _tag: "Refused", code, reason } satisfies SettlementOutcome, payer] as const
  }
  return [yield* settle(request, checked.success), checked.success.payment.payer] as const
})

const charged = ({ scheme, payment }: Checked, charge: bigint): Result.Result<Checked, PaymentRefused> =>
  Result.map(scheme.charging(payment, charge), (one) => ({ scheme, payment: one }))

const answerSupported = Effect.gen(function* () {
  const { stopped } = yield* TokenWatch
  const networks = [...(yield* Networks).values()].filter(({ entry }) => stopped(entry.Network) === undefined)
  const offered = networks.flatMap(({ entry }) =>
    entry.Schemes.map((scheme) => offerOf(entry, 0n, { maxTimeoutSeconds: 1, scheme, turn: nextTurn() }).requirements)
  )
  const byChannel = (yield* FacilitatorChannels).networks
  const channels = networks.flatMap(({ entry: { Network: network } }) =>
    byChannel.has(network) ? [{ scheme: channelScheme, network } as const] : []
  )
  const settlers = networks.flatMap(({ entry }) =>
    [
      ...(entry.FeePayer === undefined ? [] : [entry.FeePayer]),
      ...entry.FacilitatorAddresses,
      ...entry.RetiringAddresses
    ].map((address) => ({
      network: entry.Network,
      address
    }))
  )
  return unstored({
    status: 200,
    headers: {},
    body: supportedAnswer([...offered, ...channels], settlers)
  })
})

// Servers ask at startup; each of them can get another of our settlers.
let turn = 0
const nextTurn = () => (turn = (turn + 1) % 1_000_000)

const routes = [
  route("POST", "/verify", answerVerify),
  route("POST", "/settle", answerSettle),
  route("GET", "/supported", answerSupported)
] as const

const listening = (host: string, port: number) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { url } = yield* HttpListener
      yield* (yield* Addresses).add("payment-verifier", url)
    })
  ).pipe(
    Layer.provide(HttpListener.layer({ name: "facilitator", host, port, routes })),
    Layer.provide(Layer.mergeAll(FacilitatorSettlements.layer, FacilitatorChannels.layer))
  )

/** Empty when no port is configured. */
export const facilitatorApi = Layer.unwrap(
  Effect.map(Configuration, ({ PaymentVerifier: { FacilitatorHost, FacilitatorPort } }) =>
    FacilitatorPort === undefined ? Layer.empty : listening(FacilitatorHost, FacilitatorPort)
  )
)

interface FacilitatorAnswer<Body> {
  readonly status: 200 | 400 | 503
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

const decode = boundedDecoder(FacilitatorRequest)

/** The body of `/verify` and `/settle`, parsed from JSON. */
export const readFacilitatorRequest = (body: unknown): Result.Result<FacilitatorRequest, ReadonlyArray<Fault>> =>
  Result.mapError(decode(body), pointedFaults)

const decodeChannel = boundedDecoder(ChannelFacilitatorRequest)

const readChannelRequest = (body: unknown): Result.Result<ChannelFacilitatorRequest, ReadonlyArray<Fault>> =>
  Result.mapError(decodeChannel(body), pointedFaults)

type Verdict =
  | { readonly _tag: "Verified"; readonly payer: string; readonly extra?: VerifiedChannel["extra"] }
  | Extract<VerifyAnswer, { readonly _tag: "Refused" | "Unavailable" }>

/** The text may come from a chain's node or another facilitator; it must not identify which one. */
const clean = (text: string) => sanitise(text, { secrets: [], names: [] })

export const verifyAnswer = (verdict: Verdict): FacilitatorAnswer<VerifyResponse> => {
  if (verdict._tag === "Verified") {
    const { payer, extra } = verdict
    return ok({ isValid: true, payer, ...(extra === undefined ? {} : { extra }) })
  }
  if (verdict._tag === "Unavailable") {
    const body = {
      isValid: false,
      invalidReason: "unexpected_verify_error",
      invalidMessage: clean(verdict.reason) ?? "no answer"
    }
    return { status: 503, headers: { "retry-after": String(verdict.retryAfterSeconds) }, body }
  }
  const detail = clean(verdict.detail ?? "")
  return ok({
    isValid: false,
    invalidReason: verdict.reason,
    ...(detail === undefined ? {} : { invalidMessage: detail }),
    ...(verdict.payer === null ? {} : { payer: verdict.payer })
  })
}

export const settleAnswer = (
  outcome: SettlementOutcome,
  requirements: PaymentRequirements,
  payer: string | null
): FacilitatorAnswer<SettleResponse> => {
  const common = { network: requirements.network, ...(payer === null ? {} : { payer }) }
  switch (outcome._tag) {
    case "Settled":
      return ok({ success: true, transaction: outcome.transaction ?? "", amount: requirements.amount, ...common })
    case "Refused":
      return ok({ success: false, errorReason: outcome.reason, transaction: "", ...common })
    case "Pending":
      return ok({
        success: false,
        errorReason: "settlement_pending",
        transaction: outcome.transaction ?? "",
        ...common
      })
  }
}

/** What was sent for a server's channels. */
const sentAnswer = (
  { payer, extra, ...sent }: SettledChannel,
  { network }: Pick<PaymentRequirements, "network">
): FacilitatorAnswer<SettleResponse> =>
  ok({
    success: true,
    network,
    ...sent,
    ...(payer === null ? {} : { payer }),
    ...(extra === null ? {} : { extra })
  })

/** `offered`: the facts of each network and scheme that clients need. */
export const supportedAnswer = (
  offered: ReadonlyArray<Pick<PaymentRequirements, "scheme" | "network" | "extra">>,
  settlers: ReadonlyArray<Pick<SettlerKey, "network" | "address">>
): SupportedResponse => {
  const namespaces = [...new Set(settlers.map(({ network }) => namespaceOf(network)))]
  return {
    kinds: offered.map(({ scheme, network, extra }) => ({
      x402Version,
      scheme,
      network,
      ...(extra === undefined ? {} : { extra })
    })),
    extensions: offered.some(({ scheme }) => scheme === "upto") ? ["eip2612GasSponsoring"] : [],
    signers: Object.fromEntries(
      namespaces.map((namespace) => [
        `${namespace}:*`,
        [...new Set(settlers.flatMap((key) => (namespaceOf(key.network) === namespace ? [key.address] : [])))]
      ])
    )
  }
}

const namespaceOf = (network: string) => network.slice(0, network.indexOf(":"))

const ok = <Body>(body: Body): FacilitatorAnswer<Body> => ({ status: 200, headers: {}, body })
