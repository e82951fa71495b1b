/** The routes of lexicons. */
import { Effect, Result, Schema } from "effect"
import { type Lexicon, LexiconName, LexiconsGroup } from "#speech/api"
import { Caller, emptyAnswer, HttpCall, jsonAnswer, notFound, routesOf, validationFailed } from "#http"
import { Configuration } from "#configuration"
import { readLexicon } from "#speech"
import { Lexicons, type StoredLexicon } from "../lexicons/Lexicons.ts"
import { refusalOfVoice } from "../refusals.ts"
import { callerVersion } from "./version.ts"

// Content of characters of three bytes each, or escaped to twice their length, and room for the other field.
const options = { bodyBytesMax: Effect.succeed(400 * 1_024) }

const noLexicon = notFound("no such lexicon", "lexicon_not_found")

const isName = Schema.is(LexiconName)

const nameOfPath = Effect.map(HttpCall, ({ params }) => params["name"] ?? "")

const bodyOf = ({ name, isDefault, updatedAt, lexicon }: StoredLexicon): Lexicon => ({
  name,
  format: lexicon.format,
  language: lexicon.language ?? null,
  words: lexicon.lexemes.length,
  default: isDefault,
  updated_at: updatedAt
})

const found = Effect.gen(function* () {
  const name = yield* nameOfPath
  const { workspace } = yield* Caller
  const all = yield* Effect.mapError((yield* Lexicons).list(workspace), refusalOfVoice)
  return all.find((lexicon) => lexicon.name === name) ?? (yield* noLexicon)
})

export const lexiconRoutes = routesOf(
  LexiconsGroup,
  {
    listLexicons: () =>
      Effect.gen(function* () {
        yield* callerVersion
        const { workspace } = yield* Caller
        const { SpeechApi } = yield* Configuration
        const all = yield* Effect.mapError((yield* Lexicons).list(workspace), refusalOfVoice)
        return jsonAnswer({ lexicons: all.map(bodyOf), lexicons_max: SpeechApi.LexiconsPerWorkspace })
      }),

    getLexicon: () =>
      Effect.gen(function* () {
        yield* callerVersion
        const lexicon = yield* found
        return jsonAnswer({ ...bodyOf(lexicon), content: lexicon.content })
      }),

    putLexicon: ({ body }) =>
      Effect.gen(function* () {
        yield* callerVersion
        const name = yield* nameOfPath
        if (!isName(name)) {
          return yield* validationFailed({
            name: "letters, digits, - and _, 64 at most, the first a letter or a digit"
          })
        }
        const { content, default: isDefault = false } = yield* body
        const read = readLexicon(content)
        if (Result.isFailure(read)) return yield* validationFailed({ content: read.failure.join("; ") })
        const { workspace } = yield* Caller
        const record = { name, workspace, content, isDefault }
        const stored = yield* Effect.mapError((yield* Lexicons).put(record, read.success), refusalOfVoice)
        return jsonAnswer(bodyOf(stored))
      }),

    deleteLexicon: () =>
      Effect.gen(function* () {
        yield* callerVersion
        const name = yield* nameOfPath
        const { workspace } = yield* Caller
        const was = yield* Effect.mapError((yield* Lexicons).remove({ workspace, name }), refusalOfVoice)
        if (!was) return yield* noLexicon
        return emptyAnswer()
      })
  },
  options
)
