/** `lexicons`: the workspace's pronunciations: listed, stored from files, shown and deleted. */
import { Effect } from "effect"
import { lexiconLimits } from "#speech"
import { noneListed, note, print, table, textWithin } from "../console.ts"
import { findFleet } from "./client.ts"

export const listLexicons = Effect.fnUntraced(function* ({ json }: { readonly json: boolean }) {
  const { api, call } = yield* findFleet
  const { lexicons } = yield* call(api.listLexicons())
  if (json) return yield* Effect.forEach(lexicons, (one) => print(JSON.stringify(one)), { discard: true })
  if (lexicons.length === 0) return yield* noneListed
  const rows = lexicons.map(({ name, format, language, words, default: isDefault, updated_at: at }) => [
    name,
    format,
    language ?? "any",
    String(words),
    isDefault ? "yes" : "no",
    at
  ])
  const lines = table(["name", "format", "language", "words", "default", "stored"], rows)
  yield* Effect.forEach(lines, print, { discard: true })
})

interface StoreOrder {
  readonly name: string
  readonly file: string
  readonly default: boolean
}

// A UTF-16 unit is three bytes of UTF-8 at most.
const bytesMax = lexiconLimits.charactersMax * 3

export const storeLexicon = Effect.fnUntraced(function* ({ name, file, default: isDefault }: StoreOrder) {
  const content = yield* textWithin({ file, bytesMax, tooLong: "is larger than a lexicon may be" })
  const { api, call } = yield* findFleet
  const { words } = yield* call(api.putLexicon({ params: { name }, payload: { content, default: isDefault } }))
  yield* note(`stored ${name}: ${words} ${words === 1 ? "word" : "words"}`)
})

export const showLexicon = Effect.fnUntraced(function* ({ name }: { readonly name: string }) {
  const { api, call } = yield* findFleet
  const { content } = yield* call(api.getLexicon({ params: { name } }))
  yield* print(content.replace(/\n$/u, ""))
})

export const deleteLexicon = Effect.fnUntraced(function* ({ name }: { readonly name: string }) {
  const { api, call } = yield* findFleet
  yield* call(api.deleteLexicon({ params: { name } }))
  yield* note(`deleted ${name}`)
})
