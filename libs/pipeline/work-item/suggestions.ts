/**
 * Suggestions of the agent: an event for each, without the rationale, which stays in the log. A suggestion's id is
 * the item's and a number, so that whoever has the id finds the item.
 */
import { suggestionsMax } from "#contracts"
import { type EventsByFact, decided, type Evolvers, type OtherDeciders, refused } from "./decisions.ts"
import { itemEvent } from "./envelope.ts"

export const suggestionIdOf = (workItemId: string, number: number) => `${workItemId}-${number}`

/** The item that a suggestion is of. */
export const workItemOfSuggestion = (suggestionId: string): string =>
  suggestionId.slice(0, Math.max(0, suggestionId.lastIndexOf("-")))

export const suggestionDeciders = {
  "suggestions-made": (item, { suggestions }, { id }) =>
    item.suggestions + suggestions.length > suggestionsMax
      ? refused(item, `it has made ${item.suggestions} suggestions, and ${suggestionsMax} is the most`)
      : decided(
          ...suggestions.map((suggestion, index) => ({
            _tag: "SuggestionMade" as const,
            id: suggestionIdOf(id, item.suggestions + index + 1),
            ...suggestion
          }))
        )
} satisfies Partial<OtherDeciders>

export const suggestionEvolvers = {
  SuggestionMade: (item) => ({ suggestions: item.suggestions + 1 })
} satisfies Partial<Evolvers>

export const suggestionEvents = {
  SuggestionMade: (item, { _tag, rationale: _rationale, ...told }, context) => [
    itemEvent(item, context, "work_item.suggestion", told)
  ]
} satisfies Partial<EventsByFact>
