/** How many tokens an answer may have: what was asked for, within what the model can do. Pure. */

/** What is meant when a request does not say. */
const outputTokensDefault = 8_192

export interface OutputTokens {
  /** Null when the request did not say. */
  readonly requested: number | null
  readonly effective: number
  /** The request asked for more than the model gives. */
  readonly isCapped: boolean
}

/** `modelMax`: the model's longest answer. */
export const outputTokensOf = (requested: number | null, modelMax: number): OutputTokens => {
  const wanted = requested ?? Math.min(modelMax, outputTokensDefault)
  const effective = Math.max(1, Math.min(wanted, modelMax))
  return { requested, effective, isCapped: requested !== null && requested > modelMax }
}

/** What an answer says about a request that asked for too much; nothing otherwise. */
export const outputTokensHeaders = (tokens: OutputTokens): Readonly<Record<string, string>> =>
  tokens.isCapped
    ? {
        "x-max-tokens-capped": "true",
        "x-max-tokens-requested": String(tokens.requested),
        "x-max-tokens-effective": String(tokens.effective)
      }
    : {}
