/**
 * A scheme whose chain a facilitator asks, and whose transactions a facilitator sends. Local checks stay local, for the
 * claim is made from them, and so does the look at the chain: only the chain is believed about a payment's end. Whether
 * a facilitator says that it settled or does not say what it did, the chain is checked for a while; a transfer that is
 * not there by then is pending, without a name.
 */
import { Clock, Effect, Result } from "effect"
import { SettlementPending, ChainUnavailable, PaymentRefused, SettlementRefused, codeOf } from "../errors.ts"
import type { CheckedPayment, PaymentScheme, Settlement } from "../scheme.ts"
import type { Facilitator } from "./Facilitator.ts"
import type { PaymentRequirements, SettleResponse, VerifyResponse } from "#contracts"
import { sanitise, type SanitiseOptions } from "#egress"

interface RemoteOptions {
  /** How long the chain is asked for what a facilitator has done. */
  readonly confirmMs: number
  /** Called when the facilitator reported success and the chain does not have it. */
  readonly onUnconfirmed: () => void
}

/** The signer is unknown before the facilitator answers. */
export const remoteScheme = (
  local: PaymentScheme,
  facilitator: Facilitator,
  options: RemoteOptions
): PaymentScheme => ({
  network: local.network,
  probe: (token) => local.probe(token),
  readKey: (secret) => local.readKey(secret),
  check: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  // None of our own nodes is asked before the facilitator sends.
  checkAgain: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  simulate: ({ payload, requirements }) => Effect.asVoid(facilitator.verify(payload, requirements)),
  // A facilitator gives no balances: our own nodes, which confirm its settlements, do.
  funds: (checked, claimKeys) => local.funds(checked, claimKeys),
  // The sender pays for a failure.
  recheck: () => Effect.void,
  accountNonce: () => Effect.succeed(null),
  prepare: () => Effect.succeed({ transaction: null, raw: new Uint8Array(0), settler: "facilitator", nonce: null }),
  broadcast: (_prepared, checked) => settle(local, facilitator, options, checked),
  look: (checked, transaction) => local.look(checked, transaction),
  transfers: (from) => local.transfers(from)
})

const settle = Effect.fn("Facilitator.settle")(function* (
  local: PaymentScheme,
  facilitator: Facilitator,
  { confirmMs, onUnconfirmed }: RemoteOptions,
  checked: CheckedPayment
): Effect.fn.Return<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> {
  // The caller that ends the payment for a refusal confirms it on the chain.
  const said = yield* facilitator.settle(checked.payload, checked.requirements).pipe(
    Effect.map(({ transaction }) => ({ isDone: true, transaction, detail: `it names ${transaction}` })),
    Effect.catchTag("SettlementPending", (pending) =>
      Effect.succeed({ transaction: pending.transaction, detail: pending.detail, isDone: false })
    )
  )
  const transaction = yield* madeWithin(local, checked, said.transaction, confirmMs)
  const { network, payer, amount } = checked
  if (transaction !== null) return { transaction, network, payer, amount }
  if (said.isDone) onUnconfirmed()
  const detail = `the chain does not have it, and the facilitator: ${said.detail}`
  return yield* new SettlementPending({ transaction: null, detail })
})

const firstPauseMs = 100
const lastPauseMs = 1_000

/** The transaction on the chain, whatever its name; null when there is none in time. */
const madeWithin = Effect.fnUntraced(function* (
  local: PaymentScheme,
  checked: CheckedPayment,
  named: string | null,
  waitMs: number
) {
  const untilMs = (yield* Clock.currentTimeMillis) + waitMs
  let pauseMs = firstPauseMs
  while (true) {
    const standing = yield* Effect.result(local.look(checked, named))
    if (Result.isSuccess(standing) && standing.success._tag === "Settled") return standing.success.transaction
    const leftMs = untilMs - (yield* Clock.currentTimeMillis)
    if (leftMs <= 0) return null
    yield* Effect.sleep(Math.min(pauseMs, leftMs))
    pauseMs = Math.min(pauseMs * 2, lastPauseMs)
  }
})

/** What must stay hidden of a facilitator at this URL: its host, and keys that stand in the path. */
export const hiddenOf = (url: string): SanitiseOptions => {
  const { host, hostname, pathname, search, username, password } = new URL(url)
  const parts = [...pathname.split("/"), ...search.split(/[?&=]/u), username, password]
  return { secrets: parts.filter((part) => part.length >= 12), names: [host, hostname] }
}

const nothingHidden: SanitiseOptions = { secrets: [], names: [] }

/** A reason is a word of the protocol; a longer one is cleaned before it is passed on. */
const toldReason = (reason: string, hidden: SanitiseOptions) => sanitise(reason, hidden) ?? "unexpected_verify_error"

/** An account or nothing, for the sender of the payment sees it. */
const addressOf = (payer: string | undefined) =>
  payer !== undefined && /^[0-9A-Za-z]{1,64}$/u.test(payer) ? payer : null

const saysNothing = (status: number) => status >= 500 || status === 408 || status === 429

/**
 * The meaning of a facilitator's answer. Pure. A status of 5xx, 408 or 429, or a body that breaks the protocol, says
 * nothing of the payment, whatever it claims. Its words go to payers, so they are cleaned of what stands behind it and
 * of how we reach it; the code is read before.
 */
export const readVerification = (
  status: number,
  answer: VerifyResponse | undefined,
  hidden = nothingHidden
): Effect.Effect<string | null, PaymentRefused | ChainUnavailable> => {
  const operation = "ask the facilitator to verify"
  if (saysNothing(status)) return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}` }))
  if (answer === undefined) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status} with a body of another form` }))
  }
  const payer = addressOf(answer.payer)
  if (answer.isValid && status < 300) return Effect.succeed(payer)
  const reason = answer.invalidReason ?? "unexpected_verify_error"
  if (answer.isValid || transient.has(reason)) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}: ${reason}` }))
  }
  const code = codeOf(reason, answer.invalidMessage)
  const detail = sanitise(answer.invalidMessage ?? "", hidden)
  return Effect.fail(
    new PaymentRefused({ code, reason: toldReason(reason, hidden), payer, ...(detail === undefined ? {} : { detail }) })
  )
}

// Reasons that facilitators give when they, not the payment, are at fault.
const transient = new Set(["unexpected_verify_error", "unexpected_settle_error", "settlement_pending"])

export const readSettlement = (
  status: number,
  answer: SettleResponse | undefined,
  requirements: PaymentRequirements,
  hidden = nothingHidden
): Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> => {
  const transaction = answer === undefined || answer.transaction === "" ? null : answer.transaction
  const pending = (detail: string) => Effect.fail(new SettlementPending({ transaction, detail }))
  if (saysNothing(status)) return pending(`status ${status}`)
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
    const { network } = answer
    return Effect.succeed({ transaction, network, payer: answer.payer ?? "", amount: BigInt(requirements.amount) })
  }
  const reason = answer.errorReason ?? "unexpected_settle_error"
  // Only the chain can say that a sent transaction was refused, not a facilitator that saw one fail.
  if (transient.has(reason) || transaction !== null) return pending(reason)
  const code = codeOf(reason, answer.errorMessage)
  const told = toldReason(reason, hidden)
  return Effect.fail(new SettlementRefused({ code, reason: told, payer: addressOf(answer.payer), transaction }))
}
