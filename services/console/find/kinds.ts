/** What an id can be, by its form. Pure. */

export type SoughtAs =
  | "sequence"
  | "delivery"
  | "entity"
  | "endpoint"
  | "payer"
  | "claim"
  | "transaction"
  | "finding"
  | "request"
  | "speech"

const hex = /^(?:0x)?[0-9a-f]+$/iu
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu
const base58 = /^[1-9A-HJ-NP-Za-km-z]+$/u

const accountCharacters = { evm: 42, solanaMin: 32, solanaMax: 44 }
const transactionCharacters = { evm: 66, solanaMin: 86, solanaMax: 88 }
const findingCharacters = 32

/** The likeliest first; a name can be any text. */
export const soughtAs = (id: string): ReadonlyArray<SoughtAs> => {
  if (/^\d{1,15}$/u.test(id)) return ["sequence"]
  if (/^\d{1,15}\.\d{1,3}$/u.test(id)) return ["delivery"]
  if (uuid.test(id)) return ["delivery", "entity", "request", "speech"]
  if (/^(?:req|cli)_/u.test(id)) return ["request"]
  if (id.startsWith("claim.")) return ["claim"]
  if (/^(?:workItem|release|project|agent):/u.test(id)) return ["entity"]
  return [...chainForms(id), "endpoint", "entity", "request"]
}

const chainForms = (id: string): ReadonlyArray<SoughtAs> => {
  const { length } = id
  if (id.startsWith("0x") && hex.test(id)) {
    if (length === accountCharacters.evm) return ["payer"]
    return length === transactionCharacters.evm ? ["transaction"] : []
  }
  if (length === findingCharacters && hex.test(id)) return ["finding"]
  if (!base58.test(id)) return []
  if (length >= accountCharacters.solanaMin && length <= accountCharacters.solanaMax) return ["payer"]
  return length >= transactionCharacters.solanaMin && length <= transactionCharacters.solanaMax ? ["transaction"] : []
}

/** As a sentence names them. */
export const wordsOf: Readonly<Record<SoughtAs, string>> = {
  sequence: "a number of an event, an abandoned delivery, a rejected message or a receipt",
  delivery: "a delivery",
  entity: "a work item or another thing of events",
  endpoint: "an endpoint",
  payer: "a payer",
  claim: "a claim",
  transaction: "a transaction or a channel",
  finding: "a finding of the payment books",
  request: "a request of an operator",
  speech: "a session of speech"
}
