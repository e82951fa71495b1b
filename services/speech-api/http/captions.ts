/** Captions: a text or a dialogue is spoken as on its own route, and answered with its words in lines. */
import { Effect, Result, Stream } from "effect"
import { type CaptionsRequest, speechInputMax } from "#speech/api"
import { bytesAnswer, Caller, validationFailed, type WireError } from "#http"
import { captionFiles } from "#speech"
import type { Order } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import { voicesFor } from "../voices/speakable.ts"
import { headersOfContent, prepareAnswer, speak, started } from "./speaking.ts"

/** The order of the audio that the captions are for. */
export const spokenOrder = (request: Omit<CaptionsRequest, "format">): Result.Result<Order, WireError> => {
  const { input, turns, voice_id, ...rest } = request
  if (turns !== undefined && input === undefined && voice_id === undefined) return Result.succeed({ ...rest, turns })
  if (turns !== undefined) return Result.fail(validationFailed({ turns: "has its own `input` and `voice_id` in each" }))
  if (input !== undefined && voice_id !== undefined) return Result.succeed({ ...rest, turns: [{ input, voice_id }] })
  const fault = "is missing: a text has `input` and `voice_id`, a dialogue has `turns`"
  return Result.fail(validationFailed(input === undefined ? { input: fault } : { voice_id: fault }))
}

export const captions = Effect.fnUntraced(function* ({ format = "vtt", ...request }: CaptionsRequest) {
  const startedAtMs = yield* started
  const order = yield* Effect.fromResult(spokenOrder(request))
  const isDialogue = request.turns !== undefined
  const plan = yield* prepareAnswer(order, {
    route: isDialogue ? "/v1/audio/dialogue" : "/v1/audio/speech",
    charactersMax: speechInputMax.stream
  })
  const findVoice = yield* voicesFor((yield* Caller).workspace, isDialogue ? order.turns : [])
  const speakers = order.turns.map(({ voice_id }) => findVoice(voice_id)?.displayName ?? voice_id)
  const spoken = yield* speak(plan, startedAtMs)
  yield* Effect.mapError(Stream.runDrain(spoken.bytes), (error) => refusalOf(error, isDialogue))
  const inputs = plan.turns.map(({ input }) => input)
  const { mediaType, write } = captionFiles[format]
  const speech = { inputs, sentences: spoken.sentences, words: spoken.takeMarks() }
  const file = write(speech, isDialogue ? speakers : undefined)
  const headers = { ...(yield* headersOfContent(plan, spoken)), "server-timing": spoken.timing() }
  return bytesAnswer(new TextEncoder().encode(file), mediaType, { headers })
})
