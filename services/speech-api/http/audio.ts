/**
 * The routes that speak: a complete answer, a stream of bytes, a stream with speech marks, and a dialogue; and the list
 * of their models.
 */
import { Effect, Stream } from "effect"
import { type SpeechModel, speechModels } from "#speech/contract"
import {
  AudioGroup,
  openAiInputMax,
  openAiMediaTypes,
  OpenAiSpeechRequest,
  speechInputMax,
  SpeechRequest,
  type StreamRequest
} from "#speech/api"
import { dialectAnswer, eventsAnswer, HttpCall, jsonAnswer, jsonDecoder, readJsonValue, routesOf } from "#http"
import { Configuration } from "#configuration"
import { errorEvent, nestMarks, speechBody, speechEvents } from "../speaking/answers.ts"
import type { Order, SpeechPlan } from "../speaking/plan.ts"
import { refusalOf } from "../refusals.ts"
import { captions } from "./captions.ts"
import { dialectOf, inOpenAiTerms, openAiErrorEvent, openAiEvents, orderOf } from "./openai.ts"
import {
  bodyBytesMax,
  headersOfContent,
  headersWithin,
  heartbeat,
  prepareAnswer,
  speak,
  speechBodies,
  started,
  streamed,
  timed
} from "./speaking.ts"
import { callerVersion } from "./version.ts"

const oneTurn = ({ input, voice_id, ...rest }: StreamRequest): Order => ({ ...rest, turns: [{ input, voice_id }] })

const whole = Effect.fnUntraced(function* (plan: SpeechPlan, isFormatNamed: boolean, startedAtMs: number) {
  const spoken = yield* speak(plan, startedAtMs)
  const parts = yield* Effect.mapError(Stream.runCollect(spoken.bytes), (error) =>
    refusalOf(error, plan.turns.length > 1)
  )
  const inputs = plan.turns.map(({ input }) => input)
  const body = speechBody({
    audio: Buffer.concat(parts),
    format: plan.format,
    isFormatNamed,
    billableCharacters: spoken.billableCharacters(),
    durationMs: spoken.durationMs(),
    marks: nestMarks(inputs, spoken.sentences, spoken.takeMarks()),
    others: plan.marks === undefined ? undefined : spoken.takeOthers()
  })
  const headers = { ...(yield* headersOfContent(plan, spoken)), "server-timing": spoken.timing() }
  return jsonAnswer(body, { headers })
})

const decodeOwn = jsonDecoder(SpeechRequest, { nullIsAbsent: true })
const decodeOpenAi = jsonDecoder(OpenAiSpeechRequest, { nullIsAbsent: true })

const speakForOpenAi = Effect.fnUntraced(function* (request: OpenAiSpeechRequest, startedAtMs: number) {
  const { SpeechApi } = yield* Configuration
  const { response_format: format = "mp3", stream_format: shape = "audio" } = request
  const plan = yield* prepareAnswer(orderOf(request, SpeechApi), {
    route: "/v1/audio/speech",
    charactersMax: openAiInputMax,
    delivery: format === "wav" ? "whole" : shape === "sse" ? "streamed" : "either"
  })
  const spoken = yield* speak(plan, startedAtMs)
  if (shape === "audio") return dialectAnswer(yield* streamed(spoken, plan, openAiMediaTypes[format]))
  const answer = eventsAnswer(openAiEvents(spoken), {
    headers: timed(spoken, yield* headersOfContent(plan, spoken)),
    heartbeat,
    headersWithin,
    onFailure: () => openAiErrorEvent("upstream_failure", "the speech broke off")
  })
  return dialectAnswer(yield* Effect.mapError(answer, (error) => refusalOf(error, false)))
})

const modelBody = (model: SpeechModel) => ({
  id: model.id,
  name: model.name,
  default: model.isDefault,
  recommended: model.isRecommended,
  deprecated: model.isDeprecated,
  description: model.description,
  languages: model.languages,
  endpoints: model.routes,
  curated_voices: model.id === "tts-3.2",
  english_voices_only: model.isEnglishOnly
})

export const modelList = {
  models: speechModels.filter(({ isDialogue }) => !isDialogue).map(modelBody),
  dialogue_models: speechModels.filter(({ isDialogue }) => isDialogue).map(modelBody)
}

export const audioRoutes = routesOf(
  AudioGroup,
  {
    createSpeech: () =>
      Effect.gen(function* () {
        const startedAtMs = yield* started
        const value = yield* readJsonValue({ bytesMax: bodyBytesMax })
        const dialect = yield* Effect.fromResult(dialectOf(value))
        if (dialect === "openai") {
          const answer = Effect.flatMap(decodeOpenAi(value), (request) => speakForOpenAi(request, startedAtMs))
          return yield* Effect.mapError(answer, inOpenAiTerms)
        }
        const { audio_format: audioFormat, ...request } = yield* decodeOwn(value)
        const order = { ...oneTurn(request), ...(audioFormat === undefined ? {} : { audio_format: audioFormat }) }
        const plan = yield* prepareAnswer(order, { route: "/v1/audio/speech", charactersMax: speechInputMax.answer })
        return yield* whole(plan, request.output_format !== undefined, startedAtMs)
      }),

    createDialogue: ({ body }) =>
      Effect.gen(function* () {
        const startedAtMs = yield* started
        const request = yield* body
        const plan = yield* prepareAnswer(request, {
          route: "/v1/audio/dialogue",
          charactersMax: speechInputMax.stream
        })
        return yield* whole(plan, request.output_format !== undefined, startedAtMs)
      }),

    createCaptions: ({ body }) => Effect.flatMap(body, captions),

    streamSpeech: ({ body }) =>
      Effect.gen(function* () {
        const startedAtMs = yield* started
        const plan = yield* prepareAnswer(oneTurn(yield* body), {
          route: "/v1/audio/stream",
          charactersMax: speechInputMax.stream
        })
        const spoken = yield* speak(plan, startedAtMs)
        return yield* streamed(spoken, plan, plan.format.mediaType)
      }),

    streamSpeechWithTimestamps: ({ body }) =>
      Effect.gen(function* () {
        const startedAtMs = yield* started
        const { requestId } = yield* HttpCall
        const { SpeechApi } = yield* Configuration
        const plan = yield* prepareAnswer(oneTurn(yield* body), {
          route: "/v1/audio/stream/with-timestamps",
          charactersMax: speechInputMax.stream
        })
        const spoken = yield* speak(plan, startedAtMs)
        const headers: Record<string, string> = yield* headersOfContent(plan, spoken)
        for (const prefix of SpeechApi.HeaderPrefixes) headers[`${prefix}-Audio-Content-Type`] = plan.format.mediaType
        return yield* Effect.mapError(
          eventsAnswer(speechEvents(spoken), {
            headers: timed(spoken, headers),
            heartbeat,
            headersWithin,
            onFailure: () => errorEvent("upstream_failure", "the speech broke off", requestId)
          }),
          (error) => refusalOf(error, false)
        )
      }),

    listModels: () => Effect.as(callerVersion, jsonAnswer(modelList))
  },
  speechBodies
)
