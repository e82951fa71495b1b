/** What a call costs. */
export { chargedInputTokens, inputTokensOf, type PromptSize } from "./input-tokens.ts"
export { atomicAmount, decimalAmount, microUsdOf } from "./money.ts"
export { type Offer, offerOf } from "./offers.ts"
export { type OutputTokens, outputTokensHeaders, outputTokensOf } from "./output-tokens.ts"
export { flatPrice, type Tariff, tariffOf, tokenPrice, type TokenPrices, type TokenUse } from "./price.ts"
