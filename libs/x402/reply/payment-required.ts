/**
 * The quote as text. It is written once and used as header and in the body, so that what a client reads in
 * the body is byte for byte what it would read in the decoded header. The header goes out three times, and
 * proxies refuse answers with more than about 3 kB of them: nothing is said here that is not needed. Pure.
 */
import { type ResourceInfo, x402Version } from "#contracts"
import type { Offer } from "../quote/offers.ts"
import { identifierDeclaration, identifierWithoutSchema } from "../intake/payment-identifier.ts"

/** What is to be paid for, and how it can be. Clients sign the first offer. */
export interface Quote {
  readonly resource: ResourceInfo
  readonly offers: readonly [Offer, ...ReadonlyArray<Offer>]
}

export interface QuoteText {
  /** The JSON text of `accepts`. */
  readonly accepts: string
  /** The value of `PAYMENT-REQUIRED`. */
  readonly header: string
}

const descriptionCharactersMax = 96

// Three copies in base64 and the other headers of a 402 then stay below 3,000 bytes.
const quoteCharactersMax = 648

/** What is left out first when a quote becomes too long: how the extension's data look, then the extension. */
const extensionTexts = [
  `,"extensions":${JSON.stringify(identifierDeclaration)}`,
  `,"extensions":${JSON.stringify(identifierWithoutSchema)}`,
  ""
]

export const quoteText = (quote: Quote, error: string): QuoteText => {
  const accepts = JSON.stringify(quote.offers.map(({ requirements }) => requirements))
  const resource = JSON.stringify(quote.resource)
  const text = `{"x402Version":${x402Version},"error":${JSON.stringify(error)},"resource":${resource},"accepts":${accepts}`
  const rest = extensionTexts.find((extensions) => text.length + extensions.length < quoteCharactersMax) ?? ""
  return { accepts, header: Buffer.from(`${text}${rest}}`).toString("base64") }
}

export interface ResourceOf {
  /** Configured, never the caller's Host: `https://models.example.com`. */
  readonly origin: string
  readonly path: string
  readonly model: string
  /** Absent for what is not sold by tokens. */
  readonly tokens?: { readonly input: number; readonly output: number }
}

/** A model call as a resource. */
export const modelResource = ({ origin, path, model, tokens }: ResourceOf): ResourceInfo => {
  const size = tokens === undefined ? "" : ` (~${tokens.input} input, ${tokens.output} max output tokens)`
  // Half a surrogate pair at the cut would not survive the header.
  const description = `${model} API call${size}`.slice(0, descriptionCharactersMax).toWellFormed()
  return { url: `${origin.replace(/\/+$/u, "")}${path}`, description, mimeType: "application/json" }
}
