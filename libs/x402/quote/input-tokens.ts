/**
 * How many tokens a prompt is, guessed without the model's tokenizer: four bytes of UTF-8 a token, so that
 * scripts of three bytes a character, which tokenize at about one token each, are not sold at a quarter. The
 * guess is rounded up to one of sixteen steps per doubling: a prompt that grows by a word keeps its price, and
 * with it the authorization that a client has signed ahead; nobody pays for more than a sixteenth too much. Pure.
 */

/** What is counted of a request, whatever its wire format. */
export interface PromptSize {
  /** UTF-8 bytes of all text that goes to the model: messages, system prompt, tool definitions as JSON. */
  readonly textBytes: number
  /** Messages, each of which is wrapped in tokens of its own. */
  readonly messages: number
  readonly images: number
}

const bytesPerToken = 4
const tokensPerMessage = 4
/** Between what common models take for a small image (85) and a large one (1,105), nearer the latter. */
const tokensPerImage = 1_024
/** Below this all prompts cost the same. */
const tokensMin = 64
const stepsPerDoubling = 16

export const inputTokensOf = (size: PromptSize): number =>
  Math.ceil(size.textBytes / bytesPerToken) + size.messages * tokensPerMessage + size.images * tokensPerImage

/** The tokens that are charged for: never fewer than `tokens`, at most a sixteenth more from 64 on. */
export const chargedInputTokens = (tokens: number): number => {
  if (tokens <= tokensMin) return tokensMin
  const step = Math.max(1, 2 ** Math.floor(Math.log2(tokens)) / stepsPerDoubling)
  return Math.ceil(tokens / step) * step
}
