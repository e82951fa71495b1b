/** What each provider takes beside its API's own keys: as its entry says, else by its host. */
import type { ProviderEntry } from "#contracts"
import type { Takes, ThoughtsBack } from "./Written.ts"

interface Known {
  readonly parameters: "own" | "extended"
  readonly thoughts: ThoughtsBack
}

// Their documents name the keys that they take; others are refused.
const known: ReadonlyArray<readonly [host: RegExp, known: Known]> = [
  [/(?:^|\.)openai\.com$/u, { parameters: "own", thoughts: "none" }],
  [/(?:^|\.)openai\.azure\.com$/u, { parameters: "own", thoughts: "none" }],
  [/(?:^|\.)groq\.com$/u, { parameters: "own", thoughts: "none" }],
  [/(?:^|\.)openrouter\.ai$/u, { parameters: "extended", thoughts: "reasoning_details" }]
]

/** Most other servers of OpenAI's API take its extensions, and pass over the thoughts that they do not want. */
const others: Known = { parameters: "extended", thoughts: "reasoning_content" }

export const takesOf = ({
  BaseUrl,
  Parameters,
  Thoughts
}: Pick<ProviderEntry, "BaseUrl" | "Parameters" | "Thoughts">): Takes => {
  const { hostname } = new URL(BaseUrl)
  const { parameters, thoughts } = known.find(([host]) => host.test(hostname))?.[1] ?? others
  return { extensions: (Parameters ?? parameters) === "extended", thoughts: Thoughts ?? thoughts }
}
