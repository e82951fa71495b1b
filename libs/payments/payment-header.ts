/**
 * A payment as it arrives: `PAYMENT-SIGNATURE`, or `X-PAYMENT`, its name in version 1. All of it is untrusted, so every
 * limit applies before it is read: its length, the alphabet, the depth of its JSON. Two payments in one request are
 * refused, because another reader might take the other one. Pure.
 */
import { Result, Schema } from "effect"
import { faultsOf } from "#base"
import { isSameAddress, PaymentPayload, x402Version, type PaymentRequirements } from "#payments/contract"
import { PaymentRefused, reason } from "./errors.ts"
import { statedPayer } from "./stated-payer.ts"

/** The limit for either header. A payment is about 1 kB. */
const paymentHeaderBytesMax = 8_192
const jsonDepthMax = 16

/** Every value of either name, in order of arrival; empty for an absent name. */
export interface PaymentHeaders {
  readonly "payment-signature": ReadonlyArray<string>
  readonly "x-payment": ReadonlyArray<string>
}

const standardBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u
// Padding can be missing: some clients omit it.
const unpaddedBase64 = /^[A-Za-z0-9+/]+$/u
const utf8 = new TextDecoder("utf-8", { fatal: true })
const decode = Schema.decodeUnknownResult(PaymentPayload, { errors: "first" })

type Read<A> = Result.Result<A, PaymentRefused>

/** Whether there is anything to read; it may not be a payment. */
export const bringsPayment = (headers: PaymentHeaders): boolean =>
  headers["payment-signature"].length > 0 || headers["x-payment"].length > 0

/** The payment of a request, or null if there is none. */
export const readPayment = (headers: PaymentHeaders): Read<PaymentPayload | null> => {
  const signatures = separate(headers["payment-signature"])
  const aliases = separate(headers["x-payment"])
  if (signatures.length > 1) return refused(reason.invalidPayload, "PAYMENT-SIGNATURE is given more than once")
  if (aliases.length > 1) return refused(reason.invalidPayload, "X-PAYMENT is given more than once")
  const [signature] = signatures
  const [alias] = aliases
  if (signature !== undefined && alias !== undefined && signature !== alias) {
    return refused(reason.invalidPayload, "PAYMENT-SIGNATURE and X-PAYMENT hold different payments")
  }
  const header = signature ?? alias
  return header === undefined ? Result.succeed(null) : decodePayment(header)
}

// Servers and proxies join repeated headers with a comma, which base64 does not have. JSON contains commas of its own.
const separate = (values: ReadonlyArray<string>) =>
  values
    .flatMap((value) => (value.trimStart().startsWith("{") ? [value] : value.split(",", 3)))
    .map((one) => one.trim())

/** One header's value. */
export const decodePayment = (header: string): Read<PaymentPayload> => {
  if (header.length > paymentHeaderBytesMax) {
    return refused(reason.invalidPayload, `the header is longer than ${paymentHeaderBytesMax} bytes`)
  }
  const bytes = Buffer.from(header, "base64")
  if (!isBase64(header, bytes)) {
    const isJson = header.startsWith("{")
    const payer = statedPayer(jsonOf(isJson ? header : bytes.toString("utf8")))
    const detail = isJson ? "the header is JSON and not standard base64 of it" : "the header is not standard base64"
    return refused(reason.invalidPayload, detail, payer)
  }
  const json = Result.try((): unknown => JSON.parse(utf8.decode(bytes)))
  if (Result.isFailure(json)) return refused(reason.invalidPayload, "the header is not base64 of UTF-8 JSON")
  const payer = statedPayer(json.success)
  const fault = shapeFault(json.success)
  if (fault !== undefined) return refused(reason.invalidPayload, fault, payer)
  return Result.mapError(decode(json.success), (error) => {
    const [first] = faultsOf(error.issue)
    const path = first?.path ?? ""
    const detail = first === undefined ? "not a payment" : `${path === "" ? "/" : path}: ${first.message}`
    return refusal(reasonAt(path, json.success), detail, payer)
  })
}

/** A text that round-trips is base64, which is nearly always the case; the rest is checked by the alphabet. */
const isBase64 = (header: string, bytes: Buffer) =>
  header !== "" &&
  (bytes.toString("base64") === header ||
    standardBase64.test(header) ||
    (unpaddedBase64.test(header) && header.length % 4 !== 1))

// The protocol names the faults of the first fields that are checked.
const reasonAt = (path: string, json: unknown) => {
  const isOtherVersion = typeof json === "object" && json !== null && "x402Version" in json
  if (path === "/x402Version" && isOtherVersion && json.x402Version !== x402Version) return reason.invalidVersion
  if (path === "/accepted/scheme") return reason.invalidScheme
  return path === "/accepted/network" ? reason.invalidNetwork : reason.invalidPayload
}

/** Walked without recursion: a deep value must not exhaust the stack. */
const shapeFault = (json: unknown): string | undefined => {
  let level: ReadonlyArray<unknown> = [json]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > jsonDepthMax) return `nested deeper than ${jsonDepthMax} levels`
    const below: Array<unknown> = []
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue
      if (Object.hasOwn(value, "__proto__")) return "the key __proto__ is not allowed"
      below.push(...Object.values(value))
    }
    level = below
  }
  return undefined
}

const jsonOf = (text: string): unknown => Result.getOrUndefined(Result.try(() => JSON.parse(text) as unknown))

const refusal = (text: string, detail: string, payer: string | null) =>
  new PaymentRefused({ code: "PAYMENT_INVALID", reason: text, payer, detail: detail.slice(0, 256) })

const refused = (text: string, detail: string, payer: string | null = null) => Result.fail(refusal(text, detail, payer))

// The client's accepted entry is compared field by field, never by bytes: clients rewrite it, in their own order and
// with additions. The amount must be equal: a payment of an old quote is answered with the new one.

/** Our own requirements that the payment answers. */
export const matchOffer = (
  payload: PaymentPayload,
  offers: ReadonlyArray<PaymentRequirements>
): Result.Result<PaymentRequirements, PaymentRefused> => {
  const { accepted } = payload
  const notOffered = (text: string, detail: string) => refused(text, detail, statedPayer(payload))
  const onNetwork = offers.filter((offer) => offer.network === accepted.network)
  if (onNetwork.length === 0) return notOffered(reason.invalidNetwork, `${accepted.network} is not offered here`)
  let wrong = ""
  for (const offer of onNetwork) {
    const field = differingField(accepted, offer)
    if (field === undefined) return Result.succeed(offer)
    // A difference within the offer of the same scheme says more than that other schemes exist.
    if (wrong === "" || wrong === "scheme") wrong = field
  }
  const text = wrong === "scheme" ? reason.invalidScheme : reason.invalidRequirements
  return notOffered(text, `accepted.${wrong} is not what is quoted`)
}

/** The first field that differs from the requirements. */
const differingField = (accepted: PaymentRequirements, required: PaymentRequirements): string | undefined => {
  const { network } = required
  if (accepted.scheme !== required.scheme) return "scheme"
  if (accepted.network !== network) return "network"
  if (!isSameAddress(network, accepted.asset, required.asset)) return "asset"
  if (!isSameAddress(network, accepted.payTo, required.payTo)) return "payTo"
  if (accepted.amount !== required.amount) return "amount"
  if (accepted.maxTimeoutSeconds !== required.maxTimeoutSeconds) return "maxTimeoutSeconds"
  // Our own fields of `extra` are text; a client's additions are ignored.
  const given = accepted.extra ?? {}
  const missing = Object.entries(required.extra ?? {}).find(([key, value]) => given[key] !== value)
  return missing === undefined ? undefined : `extra.${missing[0]}`
}

const extension = "payment-identifier"
const pattern = "^[a-zA-Z0-9_-]{16,128}$"
const identifier = new RegExp(pattern, "u")

const info = { required: false }

/** The declaration in a quote; clients read only `info`. */
export const identifierWithoutSchema = { [extension]: { info } }
/**
 * The `payment-identifier` extension: a client names its call, so that a paid answer that was lost on the way can be
 * sent again for the same payment. Offered, not required. Pure.
 */
export const identifierDeclaration = {
  [extension]: {
    info,
    schema: { type: "object", properties: { required: { type: "boolean" }, id: { type: "string", pattern } } }
  }
}

/**
 * The `eip2612GasSponsoring` extension: a payer of `upto` that has not approved Permit2 signs the approval, and the
 * settlement includes it.
 */
export const approvalDeclaration = { eip2612GasSponsoring: { info: { version: "1" } } }

/** The client's name for its call, or null without one. Fails on an invalid name. */
export const paymentIdentifier = (payload: PaymentPayload): Result.Result<string | null, PaymentRefused> => {
  const id = infoOf(payload.extensions?.[extension])["id"]
  if (id === undefined) return Result.succeed(null)
  if (typeof id === "string" && identifier.test(id)) return Result.succeed(id)
  const detail = `${extension}: the id must be 16 to 128 letters, digits, hyphens and underscores`
  return refused(reason.invalidPayload, detail, statedPayer(payload))
}

const infoOf = (declared: unknown): Readonly<Record<string, unknown>> => {
  const { info } = recordOf(declared)
  return recordOf(info)
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {}
