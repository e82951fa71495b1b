/** The routes that list models, the voices of the catalogue, and the voices of the caller's workspace. */
import { Effect, Option } from "effect"
import { type SpeechModel, speechModels, VoicesQuery } from "#contracts"
import { authenticated, Caller, HttpCall, jsonAnswer, notFound, readQuery, route } from "#http"
import { Configuration } from "#runtime"
import { sharedVoices, voiceById } from "#speech"
import { callerVersion } from "./version.ts"
import { cloneRules } from "../voices/speakable.ts"
import { listedClone, type ListedVoice, pageOfVoices, voiceBody, withOldGender } from "../voices/list.ts"
import { ClonedVoices } from "../voices/ClonedVoices.ts"
import { refusalOfVoice } from "../voices/refusals.ts"

/** A model on the wire. */
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

const listModels = Effect.as(callerVersion, jsonAnswer(modelList))

const rules = Effect.gen(function* () {
  const { VoiceCloning } = yield* Configuration
  return cloneRules(VoiceCloning, (yield* Caller).workspace)
})

const ownVoices = Effect.gen(function* () {
  const { workspace } = yield* Caller
  const voices = yield* Effect.mapError((yield* ClonedVoices).list(workspace), refusalOfVoice)
  const ofWorkspace = yield* rules
  return voices.map((voice) => listedClone(voice, ofWorkspace))
})

const listVoices = Effect.gen(function* () {
  const { hasBareVoiceList } = yield* callerVersion
  const query = yield* readQuery(VoicesQuery)
  const own = query.type === "shared" ? [] : yield* ownVoices
  const page = yield* Effect.fromResult(pageOfVoices([...sharedVoices, ...own], query))
  return jsonAnswer(hasBareVoiceList ? page.voices.map(withOldGender) : page)
})

/** Another workspace's voice and one that never existed look the same: one read finds neither. */
const findVoice = Effect.fnUntraced(function* (id: string) {
  const shared: ListedVoice | undefined = voiceById(id)
  if (shared !== undefined) return shared
  const { workspace } = yield* Caller
  const own = yield* Effect.mapError((yield* ClonedVoices).find(workspace, id), refusalOfVoice)
  if (Option.isNone(own)) return yield* notFound("no such voice", "voice_not_found")
  return listedClone(own.value, yield* rules)
})

const getVoice = Effect.gen(function* () {
  const { hasBareVoiceList } = yield* callerVersion
  const { params } = yield* HttpCall
  const body = voiceBody(yield* findVoice(params["voice_id"] ?? ""))
  return jsonAnswer(hasBareVoiceList ? withOldGender(body) : body)
})

export const catalogueRoutes = [
  route(
    "GET",
    "/v1/audio/models",
    authenticated({ scopes: ["audio:speech", "audio:stream", "voices:read"] })(listModels)
  ),
  route("GET", "/v1/voices", authenticated({ scopes: ["voices:read"] })(listVoices)),
  route("GET", "/v1/voices/:voice_id", authenticated({ scopes: ["voices:read"] })(getVoice))
] as const
