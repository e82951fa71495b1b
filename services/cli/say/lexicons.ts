/** `lexicons`: the workspace's pronunciations: listed, stored from files, shown and deleted. */
import { Effect } from "effect"
import { lexiconLimits } from "#speech"
import { type Page, printPage } from "../answers.ts"
import { note, print, textWithin } from "../console.ts"
import { findFleet } from "./client.ts"

export const listLexicons = Effect.fnUntraced(function* (page: Page) {
  const { api, call } = yield* findFleet
  const { lexicons } = yield* call(api.listLexicons())
  yield* printPage(lexicons, page, {
    keyOf: ({ name }) => name,
    forPrograms: (one) => ({ ...one }),
    forPeople: ({ language, default: isDefault, ...one }) => ({
      ...one,
      language: language ?? "any",
      default: isDefault ? "yes" : "no"
    }),
    columns: {
      name: "name",
      format: "format",
      language: "language",
      words: "words",
      default: "default",
      stored: "updated_at"
    }
  })
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
