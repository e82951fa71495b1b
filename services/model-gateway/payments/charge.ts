/**
 * What a call costs under `upto`, by what was used of it. Pure. The rules, in their order:
 *
 * - a flat price is charged as it is;
 * - tokens are those that the provider reported. Input that it did not report is estimated, as for the quote; output
 *   that it did not report, or not yet, is counted here by the bytes that were given out;
 * - a stream that was broken off has the tokens reported so far, or those counted here where they are more: a report on
 *   the way lags behind what was sent;
 * - the price has its minimum and its fee, and never exceeds what the payer has signed.
 *
 * A call whose provider failed, even after content, never comes here: it is released and costs nothing.
 */
import { chargedInputTokens, flatPrice, inputTokensOf, meteredTariff, type Tariff, tokenPrice } from "#payments"
import type { CallFacts } from "./quote.ts"

/** What is known of an answer, or of a part of one. */
export interface Used {
  /** By the provider's own count; null where it has not said. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** UTF-8 bytes of the content that came from the provider. */
  readonly answerBytes: number
  /** The answer is whole: what the provider reported is all. */
  readonly isWhole: boolean
}

export const nothingUsed: Used = { inputTokens: null, outputTokens: null, answerBytes: 0, isWhole: false }

type Priced = Pick<CallFacts, "prices" | "prompt" | "count">

// As prompts are counted.
const bytesPerToken = 4
// No tokenizer makes longer tokens on average: by it an answer surely has that many.
const bytesPerTokenMax = 8

/** In millionths of a dollar; before it is held to what the payer has signed. */
export const usedPrice = (tariff: Tariff, call: Priced, used: Used): bigint =>
  priced(tariff, call, used, outputTokensOf(used, bytesPerToken))

/**
 * The least that a part of an answer can cost: a stream is ended when even this is more than was signed. An answer of
 * the longest allowed length must never be cut because its tokens are counted roughly here.
 */
export const leastPrice = (tariff: Tariff, call: Priced, used: Used): bigint =>
  priced(tariff, call, used, outputTokensOf(used, bytesPerTokenMax))

const priced = (tariff: Tariff, { prices, prompt, count }: Priced, used: Used, outputTokens: number) => {
  if (prices.flatMicroUsd !== undefined) return flatPrice(tariff, prices.flatMicroUsd, count)
  const inputTokens = reported(used.inputTokens) ?? chargedInputTokens(inputTokensOf(prompt))
  return tokenPrice(meteredTariff(tariff), prices, { inputTokens, outputTokens })
}

const outputTokensOf = ({ outputTokens, answerBytes, isWhole }: Used, bytesEach: number): number => {
  const counted = Math.ceil(Math.max(0, answerBytes) / bytesEach)
  const told = reported(outputTokens)
  if (told === undefined) return counted
  return isWhole ? told : Math.max(told, counted)
}

/** A provider that says nothing, or nought of a part that was there, has not reported it. */
const reported = (tokens: number | null): number | undefined =>
  tokens !== null && Number.isFinite(tokens) && tokens > 0 ? Math.ceil(tokens) : undefined

/** Holds a price to what the payer has signed. */
export const heldTo = (units: bigint, ceiling: bigint): bigint => {
  if (units < 0n) return 0n
  return units < ceiling ? units : ceiling
}
