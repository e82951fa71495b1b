/**
 * Parameters of the three dialects and their relatives for which a provider charges beside its tokens, or by which a
 * caller picks a dearer one: a quote knows nothing of them, so a model is sold with those alone that its configuration
 * names. Data.
 */
import { Schema } from "effect"

export const costlyParameters = [
  // Faster or elsewhere, for more.
  "service_tier",
  "speed",
  "inference_geo",
  // Other ways to answer than in words.
  "modalities",
  "audio",
  // What is guessed wrong is billed as output.
  "prediction",
  // More answers than are given out.
  "best_of",
  "candidate_count",
  // The provider looks things up, by the search and with all that it finds as input.
  "web_search_options",
  "web_search",
  "search_parameters",
  "enable_search",
  "plugins",
  "connectors",
  "data_sources",
  "mcp_servers",
  "container",
  // Whom a router asks instead.
  "models",
  "fallbacks",
  "route",
  "provider",
  "preset"
] as const
export type CostlyParameter = (typeof costlyParameters)[number]

/** One of them, or a tool that the provider runs itself: `tools.web_search`, whatever its version. */
export const ExtraParameter = Schema.Union([
  Schema.Literals(costlyParameters),
  Schema.String.check(Schema.isPattern(/^tools\.[a-z][a-z0-9_]{0,63}$/u))
])
