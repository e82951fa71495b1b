/** The routes of voices: the catalogue's, and those of the caller's workspace with their files. */
import { Effect, Option, Stream } from "effect"
import { VoicesGroup } from "#speech/api"
import {
  bytesAnswer,
  Caller,
  dialectAnswer,
  downloadAnswer,
  emptyAnswer,
  forbidden,
  HttpCall,
  jsonAnswer,
  notFound,
  routesOf,
  validationFailed
} from "#http"
import { Configuration } from "#configuration"
import { ClonedVoices } from "../voices/ClonedVoices.ts"
import { listedClone, type ListedVoice, pageOfVoices, voiceBody, withOldGender } from "../voices/list.ts"
import type { ClonedVoice, KeptFile } from "../voices/records.ts"
import type { Order } from "../speaking/plan.ts"
import { previewOrder } from "../voices/preview.ts"
import { refusalOf, refusalOfVoice } from "../refusals.ts"
import { cloneRules } from "../voices/speakable.ts"
import { elevenLabsRefusal, elevenLabsVoice } from "../vendors/elevenlabs.ts"
import { elevenLabsKey, isElevenLabsCall } from "../vendors/keys.ts"
import { refusingAs } from "../vendors/refusals.ts"
import { VoiceFiles } from "../voices/VoiceFiles.ts"
import { VoiceRemoval } from "../voices/VoiceRemoval.ts"
import { createConsentChallenge, createVoice } from "./cloning.ts"
import { entityTag, isCachedByCaller, prepare, speak, started } from "./speaking.ts"
import { callerVersion } from "./version.ts"
import { configuredCatalogue } from "../voices/configured-catalogue.ts"

// Room for a name that is much too long, so that its refusal can say how long it was.
const options = { bodyBytesMax: Effect.succeed(65_536) }

const noVoice = notFound("no such voice", "voice_not_found")

export const voiceId = Effect.map(HttpCall, ({ params }) => params["voice_id"] ?? "")

const isShared = (id: string) => Effect.map(configuredCatalogue, ({ byId }) => byId(id) !== undefined)

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

/** Those of the catalogue, and the workspace's own. */
export const everyVoice = Effect.gen(function* () {
  const { voices } = yield* configuredCatalogue
  return [...voices, ...(yield* ownVoices)]
})

/** Another workspace's voice and one that never existed look the same: one read finds neither. */
export const findVoice = Effect.fnUntraced(function* (id: string) {
  const shared: ListedVoice | undefined = (yield* configuredCatalogue).byId(id)
  if (shared !== undefined) return shared
  const { workspace } = yield* Caller
  const own = yield* Effect.mapError((yield* ClonedVoices).find(workspace, id), refusalOfVoice)
  if (Option.isNone(own)) return yield* noVoice
  return listedClone(own.value, yield* rules)
})

/**
 * A file of one of the caller's own voices, exactly as uploaded. Outsiders upload these files, so no browser may take
 * one for a page.
 */
const fileOf = (ofShared: string, choose: (voice: ClonedVoice) => KeptFile | null) =>
  Effect.gen(function* () {
    yield* callerVersion
    const id = yield* voiceId
    if (yield* isShared(id)) return yield* notFound(ofShared)
    const { workspace } = yield* Caller
    const voice = yield* Effect.mapError((yield* ClonedVoices).find(workspace, id), refusalOfVoice)
    if (Option.isNone(voice)) return yield* noVoice
    const file = choose(voice.value)
    if (file === null) return yield* notFound("the voice has no picture")
    const bytes = Stream.mapError((yield* VoiceFiles).read(file), (error) =>
      error._tag === "BusNotFound" ? noVoice : refusalOfVoice(error)
    )
    const headers = { "x-content-type-options": "nosniff", "cache-control": "private, no-store" }
    const [, extension = "bin"] = file.mediaType.split("/")
    const fileName = `${id}.${extension}`
    return yield* downloadAnswer(bytes, { contentType: file.mediaType, bytes: file.bytes, fileName, headers })
  })

/** A workspace's own voice has no preview; a voice that it does not have is not found. */
const withoutPreview = Effect.gen(function* () {
  yield* callerVersion
  yield* findVoice(yield* voiceId)
  return yield* notFound("a cloned voice has no preview; its sample is at /sample")
})

// A sentence, well within the limit of one answer.
const previewCharactersMax = 256

const preview = Effect.fnUntraced(function* (order: Order, startedAtMs: number) {
  const plan = yield* prepare(order, { route: "/v1/audio/speech", charactersMax: previewCharactersMax })
  const etag = entityTag(plan)
  const headers: Record<string, string> = {
    "cache-control": "private, max-age=86400",
    ...(etag === undefined ? {} : { etag })
  }
  if (yield* isCachedByCaller(plan)) return emptyAnswer({ status: 304, headers })
  const spoken = yield* speak(plan, startedAtMs)
  const parts = yield* Effect.mapError(Stream.runCollect(spoken.bytes), (error) => refusalOf(error, false))
  return bytesAnswer(Buffer.concat(parts), plan.format.mediaType, { headers })
})

const routes = routesOf(
  VoicesGroup,
  {
    listVoices: ({ query }) =>
      Effect.gen(function* () {
        const { hasBareVoiceList } = yield* callerVersion
        if (yield* isElevenLabsCall) {
          return dialectAnswer(jsonAnswer({ voices: (yield* everyVoice).map(elevenLabsVoice) }))
        }
        const wanted = yield* query
        const own = wanted.type === "shared" ? [] : yield* ownVoices
        const { voices } = yield* configuredCatalogue
        const page = yield* Effect.fromResult(pageOfVoices([...voices, ...own], wanted))
        return jsonAnswer(hasBareVoiceList ? page.voices.map(withOldGender) : page)
      }),

    getVoice: () =>
      Effect.gen(function* () {
        const { hasBareVoiceList } = yield* callerVersion
        const voice = yield* findVoice(yield* voiceId)
        if (yield* isElevenLabsCall) return dialectAnswer(jsonAnswer(elevenLabsVoice(voice)))
        const body = voiceBody(voice)
        return jsonAnswer(hasBareVoiceList ? withOldGender(body) : body)
      }),

    createConsentChallenge,

    createVoice,

    deleteVoice: () =>
      Effect.gen(function* () {
        yield* callerVersion
        const { workspace, tokenId } = yield* Caller
        const id = yield* voiceId
        if (yield* isShared(id)) return yield* forbidden("a voice of the catalogue cannot be deleted")
        const wasVoice = yield* Effect.mapError((yield* VoiceRemoval).remove({ workspace, id }), refusalOfVoice)
        if (!wasVoice) return yield* noVoice
        yield* Effect.logInfo("a voice was deleted").pipe(Effect.annotateLogs({ voice: id, token: tokenId }))
        return emptyAnswer()
      }),

    getVoicePreview: ({ query }) =>
      Effect.gen(function* () {
        const startedAtMs = yield* started
        const { locale } = yield* query
        const voice = (yield* configuredCatalogue).byId(yield* voiceId)
        if (voice === undefined) return yield* withoutPreview
        const order = previewOrder(voice, locale)
        if (order === undefined) return yield* validationFailed({ locale: `${voice.id} does not speak ${locale}` })
        return yield* preview(order, startedAtMs)
      }),

    getVoiceSample: () => fileOf("a voice of the catalogue has no sample", ({ sample }) => sample),

    getVoiceAvatar: () => fileOf("a voice of the catalogue has no picture", ({ avatar }) => avatar)
  },
  options
)

export const voiceRoutes = refusingAs(elevenLabsRefusal, elevenLabsKey)(routes)
