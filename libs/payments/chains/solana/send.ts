/**
 * Settling: we sign in the fee payer's place and send. Ed25519 signs the same message the same way every time, so the
 * transaction's name is the same on every try and known before anything is sent, and sending twice is harmless. The
 * node simulates the first send and refuses one that would fail, which costs no fee. A settler that restarts checks the
 * chain before it sends.
 */
import { Clock, Effect, Result } from "effect"
import { ChainUnavailable, SettlementPending, SettlementRefused } from "../../errors.ts"
import type { RpcRejected, RpcUnavailable } from "../json-rpc.ts"
import type { PreparedSettlement, Settlement, SettlerLease } from "../../scheme.ts"
import { encodeBase58 } from "./keys.ts"
import { type CheckedSvmPayment } from "./payment.ts"
import { reasons } from "./instructions.ts"
import { explain, meaningOf } from "./simulate.ts"
import { preflightError, type SignatureStatus, type SolanaNode } from "./SolanaNode.ts"
import { withFeePayerSignature } from "./transaction.ts"

/** The fee payer's signature is the transaction's name. */
export interface PreparedSvmSettlement extends PreparedSettlement {
  readonly transaction: string
}

export interface SettleOptions {
  /** The time from the first send until the wait is abandoned. */
  readonly deadlineMs: number
  /** The time between two checks of the status. */
  readonly pollMs: number
  /** The time between two sends: leaders silently drop transactions that do not fit. */
  readonly resendMs: number
}

export const prepareSettlement = Effect.fn("Svm.prepare")(function* (
  checked: CheckedSvmPayment,
  { key }: SettlerLease
): Effect.fn.Return<PreparedSvmSettlement, ChainUnavailable> {
  if (key.address !== checked.feePayer) {
    const detail = `the payment names the fee payer ${checked.feePayer}, the lease is for ${key.address}`
    return yield* new ChainUnavailable({ operation: "sign", detail })
  }
  const { transaction } = checked
  const signature = yield* key.sign(transaction.message)
  return {
    transaction: encodeBase58(signature),
    raw: withFeePayerSignature(transaction, signature)
  }
})

export const broadcastSettlement = Effect.fn("Svm.broadcast")(function* (
  rpc: SolanaNode,
  options: SettleOptions,
  prepared: PreparedSvmSettlement,
  checked: CheckedSvmPayment
): Effect.fn.Return<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> {
  const startedAtMs = yield* Clock.currentTimeMillis
  yield* sendFirst(rpc, prepared, checked)
  let sentAtMs = startedAtMs
  while (true) {
    // A status that cannot be read now may be readable at the next check.
    const status = yield* Effect.result(rpc.status(prepared.transaction, { history: false }))
    const settled = yield* outcomeOf(Result.isSuccess(status) ? status.success : null, prepared, checked)
    if (settled !== undefined) return settled
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs - startedAtMs >= options.deadlineMs) {
      const detail = `not confirmed within ${options.deadlineMs} ms`
      return yield* new SettlementPending({ transaction: prepared.transaction, detail })
    }
    if (nowMs - sentAtMs >= options.resendMs) {
      sentAtMs = nowMs
      yield* Effect.ignore(rpc.send(prepared.raw, { isFirst: false }))
    }
    yield* Effect.sleep(options.pollMs)
  }
})

const sendFirst = Effect.fnUntraced(function* (
  rpc: SolanaNode,
  prepared: PreparedSvmSettlement,
  checked: CheckedSvmPayment
) {
  yield* rpc.send(prepared.raw, { isFirst: true }).pipe(
    Effect.catchTags({
      RpcRejected: (rejected) => afterRejection(rpc, prepared, checked, rejected),
      RpcUnavailable: (failed) => afterSilence(failed),
      // An answer arrived but cannot be read: it may have been sent.
      ChainUnavailable: () => Effect.void
    })
  )
})

/** No connection was made, so the chain does not have it. Otherwise it may, and its status will show that. */
const afterSilence = ({ detail, mayHaveArrived }: RpcUnavailable) =>
  mayHaveArrived ? Effect.void : Effect.fail(new ChainUnavailable({ operation: "sendTransaction", detail }))

/** The node refused to forward it. Unless an earlier send got through, the payment ends here. */
const afterRejection = Effect.fnUntraced(function* (
  rpc: SolanaNode,
  prepared: PreparedSvmSettlement,
  checked: CheckedSvmPayment,
  rejected: RpcRejected
) {
  const { payer } = checked
  if (unreadable.has(rejected.code)) {
    const reason = reasons.settlement
    return yield* new SettlementRefused({ code: "PAYMENT_INVALID", reason, payer, transaction: null })
  }
  const error = preflightError(rejected) ?? null
  if (error === null) {
    return yield* new ChainUnavailable({ operation: "sendTransaction", detail: rejected.message })
  }
  // Only we can have completed it, so it is this transaction; its status will come.
  if (error === "AlreadyProcessed") return
  const seen = yield* rpc
    .status(prepared.transaction, { history: true })
    .pipe(Effect.mapError(({ detail }) => new SettlementPending({ transaction: prepared.transaction, detail })))
  if (seen !== null) return
  const refusal = yield* explain(rpc, checked, error)
  if (refusal._tag === "ChainUnavailable") return yield* refusal
  return yield* new SettlementRefused({ code: refusal.code, payer, reason: reasons.settlement, transaction: null })
})

// "Signature verification failure" and "invalid params": no node will ever forward these bytes.
const unreadable = new Set([-32_003, -32_602])

const outcomeOf = (
  status: SignatureStatus | null,
  prepared: PreparedSvmSettlement,
  checked: CheckedSvmPayment
): Effect.Effect<Settlement | undefined, SettlementRefused> => {
  if (status === null || !isConfirmed(status)) return Effect.undefined
  const { transaction } = prepared
  if (status.err === null) return Effect.succeed({ transaction })
  const meaning = meaningOf(status.err)
  const code = meaning._tag === "Refused" ? meaning.code : "PAYMENT_UNFUNDED"
  return Effect.fail(new SettlementRefused({ code, reason: reasons.settlement, payer: checked.payer, transaction }))
}

/** Two thirds of the stake have voted for its block. */
export const isConfirmed = ({ confirmationStatus }: SignatureStatus) =>
  confirmationStatus === "confirmed" || confirmationStatus === "finalized"
