/** A streamed chat, its receipt, and why it cost what it cost. */

export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export type ChatEvent =
  | { readonly type: "words"; readonly text: string }
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly message: string }

interface Chunk {
  readonly choices?: ReadonlyArray<{ readonly delta?: { readonly content?: string | null } }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null
  readonly error?: { readonly message?: string; readonly code?: string | null }
}

/** What the data of one event says. */
export const chatEventsOf = (data: string): ReadonlyArray<ChatEvent> => {
  if (data === "[DONE]") return [{ type: "done" }]
  const { choices = [], usage, error } = JSON.parse(data) as Chunk
  if (error !== undefined) return [{ type: "failed", message: error.message ?? error.code ?? "the model failed" }]
  const text = choices.map(({ delta }) => delta?.content ?? "").join("")
  const counted: ReadonlyArray<ChatEvent> =
    usage == null
      ? []
      : [
          {
            type: "usage",
            usage: { inputTokens: usage.prompt_tokens ?? 0, outputTokens: usage.completion_tokens ?? 0 }
          }
        ]
  return text === "" ? counted : [{ type: "words", text }, ...counted]
}

export interface Receipt {
  readonly success: boolean
  readonly transaction: string
  readonly network: string
  readonly payer?: string
  readonly errorReason?: string
}

const commentPattern = /^payment-response ([A-Za-z0-9+/=]+)$/u

/** The receipt in a comment of the stream, or in the value of PAYMENT-RESPONSE. */
export const receiptIn = (text: string | null): Receipt | undefined => {
  if (text === null) return undefined
  const encoded = commentPattern.exec(text)?.[1] ?? (/^[A-Za-z0-9+/=]+$/u.test(text) ? text : undefined)
  if (encoded === undefined) return undefined
  try {
    return JSON.parse(atob(encoded)) as Receipt
  } catch {
    return undefined
  }
}

/** A quote: what the body of a 402 says. */
export interface Quote {
  readonly price: { readonly amount: string; readonly currency: string }
  readonly accepts: ReadonlyArray<{
    readonly scheme: string
    readonly network: string
    readonly amount: string
    readonly asset: string
    readonly payTo: string
    readonly maxTimeoutSeconds: number
  }>
  readonly message: string
}

export type Pricing = { readonly input: number; readonly output: number } | { readonly flat: number }

const usd = (value: number) => `${value.toFixed(6).replace(/0{1,4}$/u, "")} USD`

/** US dollars, with the digits that say something. */
export const dollars = (amount: string | number): string => usd(Number(amount))

/** Each way to pay, with what it costs or costs at most. The price is that of the first, in the same token. */
export const waysToPay = ({ price, accepts: [first, ...rest] }: Pick<Quote, "price" | "accepts">): string => {
  if (first === undefined) return "none"
  const usdOf = (amount: string) => (Number(price.amount) * Number(amount)) / Number(first.amount)
  return [first, ...rest]
    .map(({ scheme, amount }) => `${scheme} ${scheme === "exact" ? "" : "at most "}${dollars(usdOf(amount))}`)
    .join(", ")
}

/** In sentences: what the price pays for. */
export const reasonsFor = (price: string, pricing: Pricing, maxTokens: number): ReadonlyArray<string> => {
  if ("flat" in pricing) return [`The model costs ${usd(pricing.flat)} for a call, whatever its length.`, fee]
  if (pricing.input === 0 && pricing.output === 0) return ["The model is free."]
  return [
    `The price of ${dollars(price)} is for your prompt, at ${pricing.input} USD for a million tokens, and for an answer of up to ${maxTokens} tokens, at ${pricing.output} USD for a million, as far as the gateway's tariff counts it.`,
    "It is fixed before the model begins: a shorter answer costs the same. Allow a shorter one for a lower price.",
    fee
  ]
}

const fee = "It includes a flat fee for the transaction. Failed calls are not charged."

/** What the tokens that were used would have cost, of the price that was paid. */
export const usedUsd = (pricing: Pricing, { inputTokens, outputTokens }: Usage): number =>
  "flat" in pricing ? pricing.flat : (inputTokens * pricing.input + outputTokens * pricing.output) / 1_000_000
