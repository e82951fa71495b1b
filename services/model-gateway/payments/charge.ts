/**
 * What a call costs under `upto`, by what it used. Pure. The rules, in order:
 *
 * - a flat price is charged unchanged;
 * - tokens are those that the provider reported. Input that it did not report is estimated, as for the quote; output
 * that it did not report, or not yet, is counted here by the bytes that were sent;
 * - a stream that was broken off has the tokens reported so far, or those counted here if there are more: a report
 * during the stream lags behind what was sent;
 * - the price includes its minimum and its fee, and never exceeds what the payer has signed.
 *
 * A call whose provider failed, even after content, never reaches this: it is released and costs nothing.
 */
import { chargedInputTokens, flatPrice, inputTokensOf, meteredTariff, type Tariff, tokenPrice } from "#payments"
import type { CallFacts } from "./quote.ts"

/** What is known about an answer, or about a part of one. */
export interface Used {
  /** By the provider's own count; null if not reported. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** UTF-8 bytes of the content that came from the provider. */
  readonly answerBytes: number
  /** The answer is complete: the provider's report is final. */
  readonly isComplete: boolean
}

export const noUsage: Used = { inputTokens: null, outputTokens: null, answerBytes: 0, isComplete: false }

type Priced = Pick<CallFacts, "prices" | "prompt" | "count">

// The same as for prompts.
const bytesPerToken = 4
// No tokenizer makes longer tokens on average, so an answer surely has at least that many.
const bytesPerTokenMax = 8

/** In millionths of a dollar; before it is limited to what the payer has signed. */
export const usedPrice = (tariff: Tariff, call: Priced, used: Used): bigint =>
  priced(tariff, call, used, outputTokensOf(used, bytesPerToken))

/**
 * The minimum that a part of an answer can cost: a stream is ended when even this exceeds what was signed. An answer of
 * the longest allowed length must never be cut because its tokens are only estimated here.
 */
export const leastPrice = (tariff: Tariff, call: Priced, used: Used): bigint =>
  priced(tariff, call, used, outputTokensOf(used, bytesPerTokenMax))

const priced = (tariff: Tariff, { prices, prompt, count }: Priced, used: Used, outputTokens: number) => {
  if (prices.flatMicroUsd !== undefined) return flatPrice(tariff, prices.flatMicroUsd, count)
  const inputTokens = reported(used.inputTokens) ?? chargedInputTokens(inputTokensOf(prompt))
  return tokenPrice(meteredTariff(tariff), prices, { inputTokens, outputTokens })
}

const outputTokensOf = ({ outputTokens, answerBytes, isComplete }: Used, bytesEach: number): number => {
  const counted = Math.ceil(Math.max(0, answerBytes) / bytesEach)
  const reportedTokens = reported(outputTokens)
  if (reportedTokens === undefined) return counted
  return isComplete ? reportedTokens : Math.max(reportedTokens, counted)
}

/** A provider that reports nothing, or zero for a part that exists, has not reported it. */
const reported = (tokens: number | null): number | undefined =>
  tokens !== null && Number.isFinite(tokens) && tokens > 0 ? Math.ceil(tokens) : undefined

/** Limits a price to what the payer has signed. */
export const capped = (units: bigint, ceiling: bigint): bigint => {
  if (units < 0n) return 0n
  return units < ceiling ? units : ceiling
}
