/**
 * Why a call is refused, before a route has put it in its own shape. Grouped by what a caller does next: read
 * the code, pick another model, or pay (that one is the till's, see Till.ts).
 */
import { Schema } from "effect"
import { type GatewayCode, gatewayCodes } from "#contracts"

const Detail = Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String })

export class GatewayFault extends Schema.TaggedError<GatewayFault>()("GatewayFault", {
  code: Schema.Literals(Object.keys(gatewayCodes) as ReadonlyArray<GatewayCode>),
  message: Schema.String,
  /** The field of the request that is wrong. */
  param: Schema.optionalKey(Schema.String),
  /** What the provider said, made fit for strangers. */
  debug: Schema.optionalKey(Schema.String),
  details: Schema.optionalKey(Schema.Array(Detail)),
  /** Whose limit refused: the model's family. */
  source: Schema.optionalKey(Schema.String),
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
}) {}

export class UnknownModel extends Schema.TaggedError<UnknownModel>()("UnknownModel", {
  model: Schema.String,
  suggestions: Schema.Array(Schema.String)
}) {}

/** What may be said beside a code; what is undefined is left out. */
export interface FaultFacts {
  readonly message?: string | undefined
  readonly param?: string | undefined
  readonly debug?: string | undefined
  readonly details?: GatewayFault["details"]
  readonly source?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly headers?: GatewayFault["headers"]
}

/** The fault with a code's usual words, unless there are better ones. */
export const fault = (code: GatewayCode, more: FaultFacts = {}): GatewayFault => {
  const { message, ...rest } = more
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return new GatewayFault({ code, message: message ?? gatewayCodes[code].message, ...given })
}
