/** What each provider of OpenAI's API accepts: by its entry, otherwise by its host. */
import type { ProviderEntry } from "#gateway/contract"
import type { Takes } from "./Written.ts"

// Their documentation names the parameters that they accept.
const known: ReadonlyArray<readonly [host: RegExp, takes: Takes]> = [
  [/(?:^|\.)openai\.com$/u, { parameters: "openai", thoughts: "none" }],
  [/(?:^|\.)openai\.azure\.com$/u, { parameters: "openai", thoughts: "none" }],
  [/(?:^|\.)groq\.com$/u, { parameters: "openai", thoughts: "none" }],
  [/(?:^|\.)deepseek\.com$/u, { parameters: "common", thoughts: "required" }],
  [/(?:^|\.)openrouter\.ai$/u, { parameters: "extended", thoughts: "reasoning_details" }]
]

/** Most other servers accept whatever they receive, and ignore thoughts that they do not want. */
const others: Takes = { parameters: "extended", thoughts: "reasoning_content" }

export const takesOf = ({
  BaseUrl,
  Parameters,
  Thoughts
}: Pick<ProviderEntry, "BaseUrl" | "Parameters" | "Thoughts">): Takes => {
  const { hostname } = new URL(BaseUrl)
  const { parameters, thoughts } = known.find(([host]) => host.test(hostname))?.[1] ?? others
  return { parameters: Parameters ?? parameters, thoughts: Thoughts ?? thoughts }
}
