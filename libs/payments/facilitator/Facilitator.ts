/**
 * A third party's facilitator, called over HTTP. The unknown cases matter most: a missing answer is never a refusal. A
 * verification without an answer can be repeated; a settlement without one may have happened, so it is pending until
 * the chain is asked. Only `success: true` with a transaction means paid.
 */
import { Clock, Effect, Result, Schema, type Scope } from "effect"
import {
  type FacilitatorRequest,
  type PaymentPayload,
  type PaymentRequirements,
  SettleResponse,
  VerifyResponse,
  x402Version
} from "#payments/contract"
import {
  ConfiguredHttp,
  type EgressClient,
  type EgressError,
  type EgressResponse,
  sanitise,
  type SanitiseOptions
} from "#egress"
import { Metrics } from "#runtime"
import { ChainUnavailable, codeOf, PaymentRefused, SettlementPending, SettlementRefused } from "../errors.ts"
import { facilitatorCalls } from "../metrics.ts"
import { facilitatorUnreachable, openReach } from "../reach.ts"
import type { CheckedPayment, PaymentScheme, Settlement } from "../scheme.ts"

interface FacilitatorOptions {
  /** CAIP-2, for metrics. */
  readonly network: string
  /** The URL before the operation: `https://facilitator.example.com/v2`. */
  readonly url: string
  readonly timeoutMs: number
  readonly connectionsMax: number
}

export interface Facilitator {
  readonly verify: (
    payload: PaymentPayload,
    requirements: PaymentRequirements
  ) => Effect.Effect<void, PaymentRefused | ChainUnavailable>
  /** `ChainUnavailable` only when nothing can have been sent. */
  readonly settle: (
    payload: PaymentPayload,
    requirements: PaymentRequirements
  ) => Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable>
  /** Whether it answers: by the calls of the last ten seconds, else it is asked what it supports. Or the reason. */
  readonly reach: Effect.Effect<void, string>
}

const answerBytesMax = 65_536
const connectTimeoutMs = 5_000

// Less than a check may take.
const supportedMsMax = 5_000

type Paying = "verify" | "settle"
type Operation = Paying | "supported"
type Outcome = "accepted" | "refused" | "pending" | "unavailable"

export const openFacilitator = Effect.fn("openFacilitator")(function* (
  options: FacilitatorOptions
): Effect.fn.Return<Facilitator, never, ConfiguredHttp | Metrics | Scope.Scope> {
  const client = yield* (yield* ConfiguredHttp).open({
    use: "facilitator",
    connectionsPerLaneMax: options.connectionsMax,
    lanesMax: 1,
    connectTimeoutMs: Math.min(connectTimeoutMs, options.timeoutMs)
  })
  const counted = yield* counting
  const hidden = hiddenOf(options.url)
  const { note, isProven } = yield* openReach(facilitatorUnreachable, options.network)
  const asked = (call: Effect.Effect<EgressResponse, EgressError>) =>
    call.pipe(
      Effect.tap(({ status }) => Effect.sync(() => note(!isInconclusive(status)))),
      Effect.tapError(() => Effect.sync(() => note(false)))
    )
  const post = (operation: Paying, payload: PaymentPayload, paymentRequirements: PaymentRequirements) =>
    asked(ask(client, options, operation, { x402Version, paymentPayload: payload, paymentRequirements }))
  const verify: Facilitator["verify"] = (payload, requirements) =>
    post("verify", payload, requirements).pipe(
      Effect.mapError((error) => unavailable("verify", error.message)),
      Effect.flatMap((answer) => readVerification(answer.status, readAs(VerifyResponse, answer), hidden))
    )
  const settle: Facilitator["settle"] = (payload, requirements) =>
    post("settle", payload, requirements).pipe(
      Effect.mapError(afterSettle),
      Effect.flatMap((answer) => readSettlement(answer.status, readAs(SettleResponse, answer), requirements, hidden))
    )
  const supported = asked(askSupported(client, options)).pipe(
    Effect.mapError((error) => unavailable("supported", error.message)),
    Effect.filterOrFail(
      ({ status }) => !isInconclusive(status),
      ({ status }) => unavailable("supported", `status ${status}`)
    )
  )
  return {
    verify: (payload, requirements) => counted("verify", verify(payload, requirements)),
    settle: (payload, requirements) => counted("settle", settle(payload, requirements)),
    reach: Effect.suspend(() =>
      isProven() ? Effect.void : Effect.mapError(counted("supported", supported), ({ detail }) => detail)
    )
  }
})

const unavailable = (operation: Operation, detail: string) =>
  new ChainUnavailable({ operation: `ask the facilitator to ${operation}`, detail })

const urlOf = ({ url }: FacilitatorOptions, operation: Operation) => `${url.replace(/(?<!\/)\/+$/u, "")}/${operation}`

const ask = (client: EgressClient, options: FacilitatorOptions, operation: Paying, body: FacilitatorRequest) =>
  client.request({
    method: "POST",
    url: urlOf(options, operation),
    headers: { accept: "application/json", "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(body)),
    deadlineMs: options.timeoutMs,
    responseBytesMax: answerBytesMax
  })

/** Free of charge, and every facilitator has it. Any answer but a failure of its own tells that it is there. */
const askSupported = (client: EgressClient, options: FacilitatorOptions) =>
  client.request({
    method: "GET",
    url: urlOf(options, "supported"),
    headers: { accept: "application/json" },
    body: null,
    deadlineMs: Math.min(options.timeoutMs, supportedMsMax),
    responseBytesMax: answerBytesMax,
    isRepeatable: true,
    isHeadEnough: true
  })

// Without a connection nothing was sent; in every other case it may have been.
const afterSettle = (error: EgressError) => {
  const isUnsent =
    error._tag === "AddressRefused" ||
    error._tag === "InvalidUrl" ||
    (error._tag === "DeadlineExceeded" && error.phase === "connect") ||
    (error._tag === "Unreachable" && (error.reason === "dns" || error.reason === "connect" || error.reason === "tls"))
  return isUnsent
    ? unavailable("settle", error.message)
    : new SettlementPending({ transaction: null, detail: error.message })
}

const readAs = <A>(schema: Schema.Codec<A, A>, answer: EgressResponse): A | undefined => {
  if (answer.truncated) return undefined
  const json = Result.try((): unknown => JSON.parse(Buffer.from(answer.body).toString("utf8")))
  if (Result.isFailure(json)) return undefined
  return Result.getOrUndefined(Schema.decodeUnknownResult(schema)(json.success))
}

const outcomes: Readonly<Record<string, Outcome>> = {
  PaymentRefused: "refused",
  SettlementRefused: "refused",
  SettlementPending: "pending",
  ChainUnavailable: "unavailable"
}

const counting = Effect.gen(function* () {
  const calls = (yield* Metrics).counter(facilitatorCalls)
  return <A, E extends { readonly _tag: string }>(operation: Operation, call: Effect.Effect<A, E>) => {
    const count = (outcome: Outcome) => Effect.sync(() => calls.inc({ operation, outcome }))
    return call.pipe(
      Effect.tap(() => count("accepted")),
      Effect.tapError(({ _tag }) => count(outcomes[_tag] ?? "unavailable"))
    )
  }
})

/** What must stay hidden about a facilitator at this URL: its host, and keys in the path. */
const hiddenOf = (url: string): SanitiseOptions => {
  const { host, hostname, pathname, search, username, password } = new URL(url)
  const parts = [...pathname.split("/"), ...search.split(/[?&=]/u), username, password]
  return { secrets: parts.filter((part) => part.length >= 12), names: [host, hostname] }
}

const nothingHidden: SanitiseOptions = { secrets: [], names: [] }

/** A reason is a word of the protocol; a longer one is cleaned before it is passed on. */
const cleanReason = (reason: string, hidden: SanitiseOptions) => sanitise(reason, hidden) ?? "unexpected_verify_error"

/** An account or nothing, because the payment's sender receives it. */
const addressOf = (payer: string | undefined) =>
  payer !== undefined && /^[0-9A-Za-z]{1,64}$/u.test(payer) ? payer : null

const isInconclusive = (status: number) => status >= 500 || status === 408 || status === 429

/**
 * The meaning of a facilitator's answer. Pure. A status of 5xx, 408 or 429, or a body that breaks the protocol, says
 * nothing about the payment, whatever it claims. Its text goes to payers, so it is cleaned of the facilitator's
 * backends and of how we reach it; the code is read before that.
 */
const readVerification = (
  status: number,
  answer: VerifyResponse | undefined,
  hidden = nothingHidden
): Effect.Effect<void, PaymentRefused | ChainUnavailable> => {
  const operation = "ask the facilitator to verify"
  if (isInconclusive(status)) return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}` }))
  if (answer === undefined) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status} with a body of another form` }))
  }
  if (answer.isValid && status < 300) return Effect.void
  const reason = answer.invalidReason ?? "unexpected_verify_error"
  if (answer.isValid || transient.has(reason)) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}: ${reason}` }))
  }
  const code = codeOf(reason, answer.invalidMessage)
  const detail = sanitise(answer.invalidMessage ?? "", hidden)
  return Effect.fail(
    new PaymentRefused({
      code,
      reason: cleanReason(reason, hidden),
      payer: addressOf(answer.payer),
      ...(detail === undefined ? {} : { detail })
    })
  )
}

// Reasons that facilitators give when they, not the payment, are at fault.
const transient = new Set(["unexpected_verify_error", "unexpected_settle_error", "settlement_pending"])

const readSettlement = (
  status: number,
  answer: SettleResponse | undefined,
  requirements: PaymentRequirements,
  hidden = nothingHidden
): Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> => {
  const transaction = answer === undefined || answer.transaction === "" ? null : answer.transaction
  const pending = (detail: string) => Effect.fail(new SettlementPending({ transaction, detail }))
  if (isInconclusive(status)) return pending(`status ${status}`)
  if (answer === undefined) {
    if (status < 400) return pending(`status ${status} with a body of another form`)
    const operation = "ask the facilitator to settle"
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}` }))
  }
  if (answer.success) {
    if (status >= 300) return pending(`success with status ${status}`)
    if (transaction === null) return pending("success without a transaction")
    if (answer.network !== requirements.network) return pending(`success on ${answer.network}`)
    if (answer.amount !== undefined && answer.amount !== requirements.amount) return pending("another amount")
    return Effect.succeed({ transaction })
  }
  const reason = answer.errorReason ?? "unexpected_settle_error"
  // Only the chain can tell that a sent transaction was refused, not a facilitator that saw one fail.
  if (transient.has(reason) || transaction !== null) return pending(reason)
  const code = codeOf(reason, answer.errorMessage)
  const clean = cleanReason(reason, hidden)
  return Effect.fail(new SettlementRefused({ code, reason: clean, payer: addressOf(answer.payer), transaction }))
}

interface RemoteOptions {
  /** How long the chain is polled for the facilitator's transaction. */
  readonly confirmMs: number
  /** Called when the facilitator reported success but the chain does not have the transfer. */
  readonly onUnconfirmed: () => void
}

/**
 * A scheme whose facilitator asks the chain and sends the transactions. Local checks stay local, because the claim is
 * made from them, and so does the lookup on the chain: only the chain decides how a payment ended. Whether a
 * facilitator reports a settlement or no result at all, the chain is polled for a while; a transfer that is not there
 * by then is pending, without a name. The signer is unknown until the facilitator answers.
 */
export const remoteScheme = (
  local: PaymentScheme,
  facilitator: Facilitator,
  options: RemoteOptions
): PaymentScheme => ({
  check: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  // None of our own nodes is asked before the facilitator sends.
  checkAgain: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  charging: (checked, charge) => local.charging(checked, charge),
  simulate: ({ payload, requirements }) => facilitator.verify(payload, requirements),
  // A facilitator reports no balances: our own nodes, which confirm its settlements, do.
  funds: (checked, claimKeys) => local.funds(checked, claimKeys),
  // The sender pays for a failure.
  recheck: () => Effect.void,
  prepare: () => Effect.succeed({ transaction: null, raw: new Uint8Array(0) }),
  broadcast: (_prepared, checked) => settle(local, facilitator, options, checked),
  look: (checked, transaction) => local.look(checked, transaction)
})

const settle = Effect.fn("Facilitator.settle")(function* (
  local: PaymentScheme,
  facilitator: Facilitator,
  { confirmMs, onUnconfirmed }: RemoteOptions,
  checked: CheckedPayment
): Effect.fn.Return<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> {
  // The caller that ends the payment on a refusal confirms it on the chain.
  const requirements = { ...checked.requirements, amount: String(checked.charge) }
  const reported = yield* facilitator.settle(checked.payload, requirements).pipe(
    Effect.map(({ transaction }) => ({ isDone: true, transaction, detail: `it names ${transaction}` })),
    Effect.catchTag("SettlementPending", (pending) =>
      Effect.succeed({ transaction: pending.transaction, detail: pending.detail, isDone: false })
    )
  )
  const transaction = yield* madeWithin(local, checked, reported.transaction, confirmMs)
  if (transaction !== null) return { transaction }
  if (reported.isDone) onUnconfirmed()
  const detail = `the chain does not have it, and the facilitator: ${reported.detail}`
  return yield* new SettlementPending({ transaction: null, detail })
})

const firstPauseMs = 100
const lastPauseMs = 1_000

/** The transaction on the chain, whatever its name; null if none appears in time. */
const madeWithin = Effect.fnUntraced(function* (
  local: PaymentScheme,
  checked: CheckedPayment,
  named: string | null,
  waitMs: number
) {
  const untilMs = (yield* Clock.currentTimeMillis) + waitMs
  let pauseMs = firstPauseMs
  while (true) {
    const status = yield* Effect.result(local.look(checked, named))
    if (Result.isSuccess(status) && status.success._tag === "Settled") return status.success.transaction
    const leftMs = untilMs - (yield* Clock.currentTimeMillis)
    if (leftMs <= 0) return null
    yield* Effect.sleep(Math.min(pauseMs, leftMs))
    pauseMs = Math.min(pauseMs * 2, lastPauseMs)
  }
})
