/** A payment that passed the local checks, with what the chain is to be asked and sent. */
import type { CheckedPayment, PreparedSettlement } from "../scheme.ts"
import type { CurveSignature } from "./curve.ts"
import type { Authorization } from "./typed-data.ts"

/** Addresses are in lower case; `payTo` and `amount` are the authorization's own. */
export interface EvmPayment extends CheckedPayment {
  readonly authorization: Authorization
  readonly signature: CurveSignature
}

export interface EvmPrepared extends PreparedSettlement {
  readonly transaction: string
  readonly nonce: number
}
