/**
 * The calling programs, by the product that their `User-Agent` names first: agents, libraries, and other known gateway
 * clients. A label contains a name from this table, and never a caller's text. Pure.
 */

// As observed: Codex 0.171, Claude Code 2.1, opencode 1.18, ai 7.0, OpenAI Agents 0.20, LangChain 1.0, LiteLLM 1.110.
const products = [
  ["codex", /^codex(?:_[a-z]{1,20}){0,2}\//u],
  ["claude-code", /^claude-(?:cli|code)\//u],
  ["opencode", /^opencode\//u],
  ["vercel-ai", /^ai\//u],
  ["openai-agents", /^Agents\//u],
  ["langchain", /^langchain/u],
  ["litellm", /^litellm\//u],
  ["openai-js", /^OpenAI\/JS /u],
  ["openai-python", /^(?:Async)?OpenAI\/Python /u],
  ["anthropic-js", /^Anthropic\/JS /u],
  ["anthropic-python", /^(?:Async)?Anthropic\/Python /u]
] as const

export type ClientName = (typeof products)[number][0] | "other"

export const clientNames: ReadonlyArray<ClientName> = [...products.map(([name]) => name), "other"]

/** Read up to this length, which is longer than any product. */
const charactersMax = 64

export const clientOf = (userAgent: string | undefined): ClientName => {
  if (userAgent === undefined) return "other"
  const head = userAgent.slice(0, charactersMax)
  return products.find(([, product]) => product.test(head))?.[0] ?? "other"
}
