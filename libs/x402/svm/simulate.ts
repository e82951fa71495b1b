/** Asks the chain whether it would make the transfer now: one call, and a second only when an account is missing. */
import { Effect } from "effect"
import { ChainUnavailable, PaymentRefused } from "../errors.ts"
import type { CheckedSvmPayment } from "./check.ts"
import { reasons } from "./reasons.ts"
import type { SolanaRpc } from "./SolanaRpc.ts"
import { withFeePayerSignature } from "./transaction.ts"
import { meaningOf } from "./transaction-error.ts"

const operation = "simulateTransaction"
// "Invalid params": the node could not read the transaction. All else that it rejects with is its own trouble.
const invalidParams = -32602
// The chain's errors are a few dozen characters; nodes' texts may be any length.
const detailLengthMax = 200
// For the fee payer's place, until settlement: nodes take any bytes there while signatures are not verified.
const emptySignature = new Uint8Array(64)

export const simulatePayment = Effect.fn("Svm.simulate")(function* (rpc: SolanaRpc, checked: CheckedSvmPayment) {
  const error = yield* rpc.simulate(unsigned(checked)).pipe(
    Effect.catchTags({
      RpcRejected: (rejected) => {
        const refusal =
          rejected.code === invalidParams ? refuse(checked, "PAYMENT_INVALID", rejected.detail) : unavailable(rejected)
        return Effect.fail(refusal)
      },
      RpcUnavailable: (failed) => Effect.fail(unavailable(failed))
    })
  )
  if (error === null) return
  return yield* yield* explain(rpc, checked, error)
})

/** Whether the chain has run this very message already, which it remembers for as long as its blockhash is taken. */
export const isProcessed = (rpc: SolanaRpc, checked: CheckedSvmPayment): Effect.Effect<boolean, ChainUnavailable> =>
  rpc.simulate(unsigned(checked)).pipe(
    Effect.map((error) => error === "AlreadyProcessed"),
    Effect.mapError((error) => new ChainUnavailable({ operation, detail: error.message }))
  )

const unsigned = ({ transaction }: CheckedSvmPayment) => withFeePayerSignature(transaction, emptySignature)

/**
 * What to tell of a transaction's error. A missing account of the payer is an empty wallet; the one we are paid into
 * is the operator's to make.
 */
export const explain = Effect.fnUntraced(function* (
  rpc: SolanaRpc,
  checked: CheckedSvmPayment,
  error: unknown
): Effect.fn.Return<PaymentRefused | ChainUnavailable, ChainUnavailable> {
  const meaning = meaningOf(error)
  if (meaning._tag === "Refused") return refuse(checked, meaning.code, error)
  if (meaning._tag === "NotThePayers") return new ChainUnavailable({ operation, detail: meaning.detail })
  const { destination } = checked.transfer
  const [isThere] = yield* rpc.exist([destination])
  if (isThere === true) return refuse(checked, "PAYMENT_UNFUNDED", error)
  const detail = `${checked.payTo} has no token account ${destination} of ${checked.asset}`
  return new ChainUnavailable({ operation, detail })
})

const refuse = (checked: CheckedSvmPayment, code: PaymentRefused["code"], error: unknown) =>
  new PaymentRefused({
    code,
    reason: reasons.simulation,
    payer: checked.payer,
    detail: JSON.stringify(error).slice(0, detailLengthMax)
  })

const unavailable = (error: { readonly message: string }) => new ChainUnavailable({ operation, detail: error.message })
