/** A small API of voices, with a route for each way of ending. */
import { Context, Effect, Layer, Schema } from "effect"
import { HttpCall, jsonAnswer, notFound, readJson, route } from "#http"
import { currentTraceparent } from "#runtime"
import { api } from "./api.ts"

const Voice = Schema.Struct({
  name: Schema.String.check(Schema.isMinLength(1)),
  turns: Schema.Array(Schema.Struct({ speed: Schema.Finite }))
})
const body = { bytesMax: 1_000 }

class Answers extends Context.Service<Answers, { readonly word: string }>()("test/Answers") {}

export const echo = route(
  "POST",
  "/voices",
  Effect.gen(function* () {
    const voice = yield* readJson(Voice, body)
    const { word } = yield* Answers
    return jsonAnswer({ ...voice, word }, { status: 201 })
  })
)
const byId = route(
  "GET",
  "/voices/:voice_id",
  Effect.map(HttpCall, ({ params, query }) => jsonAnswer({ params, query }))
)
const traced = route(
  "GET",
  "/traced",
  Effect.map(currentTraceparent, (header) => jsonAnswer({ header }))
)
export const broken = route("GET", "/broken", Effect.die(new Error("a bug")))
export const gone = route("GET", "/gone", Effect.fail(notFound("no such voice", "voice_not_found")))
const routes = [echo, byId, traced, broken, gone]
export const answers = Layer.succeed(Answers, { word: "yes" })
export const standing = api(routes).pipe(Layer.provide(answers))
