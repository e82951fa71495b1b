/** What a plan needs beyond the request: words of lexicons, voices of other languages, its place in the cache. */
import { Effect } from "effect"
import { speechInputMax } from "#speech/api"
import { validationFailed } from "#http"
import { lexemesIn, otherVoices } from "#speech"
import { Lexicons } from "../lexicons/Lexicons.ts"
import { refusalOfVoice } from "../refusals.ts"
import { configuredCatalogue } from "../voices/configured-catalogue.ts"
import type { SpeechPlan } from "./plan.ts"
import { cacheKeyOf } from "./SpeechCache.ts"

/** Adds the words of lexicons, the voices of other languages and scripts, and its place in the cache. */
export const completed = Effect.fnUntraced(function* (plan: SpeechPlan, workspace: string) {
  const catalogue = yield* configuredCatalogue
  const voices = catalogue.voices.filter(({ isRealTime = true }) => isRealTime || !plan.isPlayed)
  const matchers = yield* Effect.mapError((yield* Lexicons).matchers(workspace, plan.lexicons), refusalOfVoice)
  const needed = plan.turns.map(({ input }) => matchers.map((matcher) => lexemesIn(input, matcher)))
  const more = needed.flat().reduce((sum, { charactersMore }) => sum + charactersMore, 0)
  if (more > speechInputMax.stream) {
    return yield* validationFailed({
      lexicons: `they add ${more} characters to the text, ${speechInputMax.stream} at most`
    })
  }
  const turns = plan.turns.map((turn, at) => {
    const lexemes = needed[at]?.flatMap((found) => found.lexemes) ?? []
    // An alias can be in another script.
    const input = [turn.input, ...lexemes.flatMap(({ alias = "" }) => alias)].join("\n")
    const others = otherVoices({ ...catalogue, voices }, { ...turn, input }, plan.speed)
    return { ...turn, otherVoices: others, ...(lexemes.length === 0 ? {} : { lexemes }) }
  })
  const whole: SpeechPlan = { ...plan, turns }
  const cacheKey = cacheKeyOf(workspace, whole, (id) => catalogue.byId(id) !== undefined)
  return cacheKey === undefined ? whole : { ...whole, cacheKey }
})
