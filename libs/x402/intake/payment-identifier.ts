/**
 * The `payment-identifier` extension: a client names its call, so that an answer that was paid for and lost on
 * the way can be given out again to the same payment. Offered, not required. Pure.
 */
import { Result } from "effect"
import type { PaymentPayload } from "#contracts"
import { PaymentRefused } from "../errors.ts"
import { reason } from "../reasons.ts"

const extension = "payment-identifier"
const pattern = "^[a-zA-Z0-9_-]{16,128}$"
const identifier = new RegExp(pattern, "u")

const info = { required: false }

/** As a quote declares it; clients look at `info` alone. */
export const identifierWithoutSchema = { [extension]: { info } }
export const identifierDeclaration = {
  [extension]: {
    info,
    schema: { type: "object", properties: { required: { type: "boolean" }, id: { type: "string", pattern } } }
  }
}

/** The client's name for its call, or null without one. Fails when one is there that cannot be one. */
export const paymentIdentifier = (payload: PaymentPayload): Result.Result<string | null, PaymentRefused> => {
  const id = infoOf(payload.extensions?.[extension])["id"]
  if (id === undefined) return Result.succeed(null)
  if (typeof id === "string" && identifier.test(id)) return Result.succeed(id)
  const detail = `${extension}: the id must be 16 to 128 letters, digits, hyphens and underscores`
  return Result.fail(
    new PaymentRefused({ code: "PAYMENT_INVALID", reason: reason.invalidPayload, payer: null, detail })
  )
}

const infoOf = (declared: unknown): Readonly<Record<string, unknown>> => {
  const { info } = recordOf(declared)
  return recordOf(info)
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}
