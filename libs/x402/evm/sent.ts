/**
 * What a node's refusal to take a transaction in means, by the words that nodes use. Pure.
 * `waiting`: the chain has it, or may have it; its receipt tells. `outrun`: another transaction has its place; this
 * one will not be carried out unless it was already. `not taken`: it is certainly not on its way.
 */
export type SendVerdict = "waiting" | "outrun" | "not taken"

const rules: ReadonlyArray<readonly [RegExp, SendVerdict]> = [
  [/already known|already imported|known transaction|already in mempool|alreadyknown/iu, "waiting"],
  [/nonce too low|nonce is too low|invalid transaction nonce|nonce has already been used/iu, "outrun"],
  [/replacement transaction underpriced|replacement.*underpriced|transaction with the same nonce/iu, "outrun"],
  // EIP-7966: taken in, and the time to wait for it is over; or taken in behind a gap in the account's nonces.
  [/timeout|timed out|was added to the mempool|added to the (?:tx)?pool|nonce gap|queued/iu, "waiting"]
]

export const sendVerdict = (text: string): SendVerdict => {
  for (const [pattern, verdict] of rules) if (pattern.test(text)) return verdict
  return "not taken"
}

// The JSON-RPC code of a method that a node does not have; some say it in words under another code.
const methodMissing = -32_601

export const isMethodMissing = (code: number, text: string): boolean =>
  code === methodMissing ||
  /method not found|method .* (?:not found|does not exist|not supported)|not whitelisted/iu.test(text)
