/**
 * The answers of our own workers as a facilitator for any x402 server. A verification that cannot be
 * made and a settlement that is not decided are reported by the status, for the bodies' only word for an unknown
 * outcome is `settlement_pending`. Pure.
 */
import { Result, Schema } from "effect"
import {
  type Fault,
  FacilitatorRequest,
  faultsOf,
  type PaymentRequirements,
  type SettlementOutcome,
  type SettleResponse,
  type SupportedResponse,
  type VerifyAnswer,
  type VerifyResponse,
  x402Version
} from "#contracts"
import { sanitise } from "#egress"
import type { SettlerKey } from "#x402"

export interface FacilitatorAnswer<Body> {
  readonly status: 200 | 400 | 503
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
}

const decode = Schema.decodeUnknownResult(FacilitatorRequest, { errors: "all" })

/** The body of `/verify` and `/settle`, parsed from JSON. */
export const readFacilitatorRequest = (body: unknown): Result.Result<FacilitatorRequest, ReadonlyArray<Fault>> =>
  Result.mapError(decode(body), ({ issue }) => faultsOf(issue))

type Verdict =
  | { readonly _tag: "Verified"; readonly payer: string }
  | Extract<VerifyAnswer, { readonly _tag: "Refused" | "Unavailable" }>

/** The text may come from a chain's node or another facilitator; it must not name which one. */
const clean = (text: string) => sanitise(text, { secrets: [], names: [] })

export const verifyAnswer = (verdict: Verdict): FacilitatorAnswer<VerifyResponse> => {
  if (verdict._tag === "Verified") return ok({ isValid: true, payer: verdict.payer })
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
      return ok({ success: true, transaction: outcome.transaction, amount: requirements.amount, ...common })
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

/** `offered`: the facts of each network that its clients need. */
export const supportedAnswer = (
  offered: ReadonlyArray<Pick<PaymentRequirements, "network" | "extra">>,
  settlers: ReadonlyArray<Pick<SettlerKey, "network" | "address">>
): SupportedResponse => {
  const namespaces = [...new Set(settlers.map(({ network }) => namespaceOf(network)))]
  return {
    kinds: offered.map(({ network, extra }) => ({
      x402Version,
      scheme: "exact",
      network,
      ...(extra === undefined ? {} : { extra })
    })),
    extensions: [],
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
