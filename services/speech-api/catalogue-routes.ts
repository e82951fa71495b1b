/** The routes that tell what there is: models and voices. */
import { Effect } from "effect"
import { VoicesQuery } from "#contracts"
import { authenticated, HttpCall, jsonAnswer, notFound, readQuery, route } from "#http"
import { Configuration } from "#runtime"
import { sharedVoices, voiceById } from "#speech"
import { modelList } from "./model-list.ts"
import { readVersion } from "./version.ts"
import { pageOfVoices, voiceBody } from "./voice-list.ts"

const version = Effect.gen(function* () {
  const call = yield* HttpCall
  const { SpeechApi } = yield* Configuration
  return yield* Effect.fromResult(readVersion(call.header, SpeechApi.HeaderPrefixes))
})

const listModels = Effect.as(version, jsonAnswer(modelList))

const listVoices = Effect.gen(function* () {
  const { hasBareVoiceList } = yield* version
  const page = yield* Effect.fromResult(pageOfVoices(sharedVoices, yield* readQuery(VoicesQuery)))
  return jsonAnswer(hasBareVoiceList ? page.voices : page)
})

const getVoice = Effect.gen(function* () {
  yield* version
  const { params } = yield* HttpCall
  const voice = voiceById(params["voice_id"] ?? "")
  return voice === undefined ? yield* notFound("no such voice", "voice_not_found") : jsonAnswer(voiceBody(voice))
})

export const catalogueRoutes = [
  route("GET", "/v1/audio/models", authenticated("audio:speech", "audio:stream", "voices:read")(listModels)),
  route("GET", "/v1/voices", authenticated("voices:read")(listVoices)),
  route("GET", "/v1/voices/:voice_id", authenticated("voices:read")(getVoice))
] as const
