/** `say --voices`: who can speak, a line each. */
import { Effect, Schema } from "effect"
import { print } from "./connect.ts"
import { callFor, type SpeechFleet } from "./say-client.ts"

const Voices = Schema.Struct({
  voices: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      gender: Schema.String,
      locale: Schema.String,
      tags: Schema.optionalKey(Schema.Array(Schema.String))
    })
  )
})

export const printVoices = Effect.fnUntraced(function* (fleet: SpeechFleet) {
  const { voices } = yield* callFor(Voices, fleet, "/v1/voices")
  const idWidth = Math.max(0, ...voices.map(({ id }) => id.length))
  const byLocale = voices.toSorted((left, right) => left.locale.localeCompare(right.locale))
  yield* Effect.forEach(
    byLocale,
    ({ id, gender, locale, tags }) =>
      print(`${id.padEnd(idWidth)}  ${locale}  ${gender.padEnd(6)}  ${(tags ?? []).join(", ")}`.trimEnd()),
    { discard: true }
  )
}, Effect.scoped)
