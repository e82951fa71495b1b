/**
 * The plan of a request, once all its rules are checked. Pure. A broken rule returns the refusal that the caller gets.
 * Reading the input itself is up to the sequencer.
 */
import { Result } from "effect"
import { type AudioFormat, formatNamed, formatOfAccept, formatOfAudioFormat } from "#speech/audio"
import { findModel, type MarkKind, markKinds, type SpeechModel, speechModels, type SpeechTurn } from "#speech/contract"
import type { DialogueRequest } from "#speech/api"
import { badRequest, forbidden, notFound, serviceUnavailable, validationFailed, WireError } from "#http"
import { type SharedVoice, tellsPhonemes } from "#speech"
import type { CacheKey } from "./SpeechCache.ts"
import { type FindVoice, isInRange, type SpeakableVoice } from "../voices/speakable.ts"

export type SpeechRoute =
  | "/v1/audio/speech"
  | "/v1/audio/stream"
  | "/v1/audio/stream/with-timestamps"
  | "/v1/audio/dialogue"
  | "/v1/audio/jobs"

/** The priority of a live connection's listener over other callers. */
export interface ListenerPriority {
  /** It waits its turn, and is not told to come back. */
  readonly waitsTurn: boolean
  /** It hears earlier words, and would fall silent without these. */
  readonly isContinuation: boolean
}

export interface SpeechPlan {
  readonly turns: ReadonlyArray<SpeechTurn>
  readonly model: SpeechModel
  readonly format: AudioFormat
  readonly textNormalization: boolean
  readonly loudnessNormalization: boolean
  /** How many times its own pace each voice speaks. */
  readonly speed: number
  /** Absent for the defaults of the workspace. */
  readonly lexicons?: ReadonlyArray<string>
  readonly billableCharacters: number
  /** In the order of `markKinds`; absent for words alone. */
  readonly marks?: ReadonlyArray<MarkKind>
  /** The caller plays it as it comes, and does not wait for all of it. */
  readonly isPlayed: boolean
  /** A voice of it is slower than real time: it is spoken behind all that is played. */
  readonly isBackground?: true
  /** Absent for a caller that asks once. */
  readonly priority?: ListenerPriority
  /** The key of the cached finished speech; absent if it is not cached. */
  readonly cacheKey?: CacheKey
}

/** A request of any of the routes; one input is a dialogue of one turn. */
export interface Order extends Pick<
  DialogueRequest,
  "turns" | "model" | "language" | "options" | "lexicons" | "speed" | "output_format"
> {
  readonly audio_format?: DialogueRequest["audio_format"]
}

const timestamps: SpeechRoute = "/v1/audio/stream/with-timestamps"
const eventStream = "text/event-stream"

const streamRoutes = "/v1/audio/stream"

type Planned<A> = Result.Result<A, WireError>

export interface PlanOptions {
  readonly route: SpeechRoute
  /** The caller's Accept header, for a stream whose format is not named. */
  readonly accept: string | undefined
  readonly charactersMax: number
  readonly findVoice: FindVoice
  /** What holds for a request that does not say. */
  readonly textNormalization: boolean
  /** Without it, what the route says in its own dialect. */
  readonly delivery?: Delivery
}

/** How a caller takes the audio: all of it at once, as it comes, or as it comes where the voices are fast enough. */
export type Delivery = "whole" | "streamed" | "either"

export const planSpeech = (order: Order, options: PlanOptions): Planned<SpeechPlan> => {
  const { route, charactersMax, findVoice } = options
  const { delivery = route.startsWith(streamRoutes) ? "streamed" : "whole" } = options
  const characters = order.turns.reduce((sum, turn) => sum + turn.input.length, 0)
  if (characters > charactersMax) return Result.fail(inputTooLong(characters, charactersMax))
  const slow = order.turns.find(({ voice_id }) => findVoice(voice_id)?.isRealTime === false)
  if (slow !== undefined && delivery === "streamed") return Result.fail(notRealTime(slow.voice_id))
  return Result.flatMap(modelFor(order.model, route), (model) =>
    Result.flatMap(formatFor(order, options, model), (format) =>
      Result.map(Result.flatMap(turnsFor(order, model, findVoice), tellingAll(order)), (turns) => ({
        turns,
        ...marksIn(order),
        model,
        format,
        textNormalization: order.options?.text_normalization ?? options.textNormalization,
        speed: order.speed ?? 1,
        ...(order.lexicons === undefined ? {} : { lexicons: order.lexicons }),
        loudnessNormalization: order.options?.loudness_normalization ?? false,
        billableCharacters: characters,
        isPlayed: delivery !== "whole" && slow === undefined,
        ...(slow === undefined ? {} : { isBackground: true })
      }))
    )
  )
}

const marksIn = ({ options }: Order): Pick<SpeechPlan, "marks"> => {
  const marks = markKinds.filter((kind) => options?.marks?.includes(kind))
  return marks.length === 0 || marks.join("") === "word" ? {} : { marks }
}

/** Refuses marks that the engine of a turn's voice cannot tell. */
const tellingAll =
  (order: Order) =>
  (turns: ReadonlyArray<SpeechTurn>): Planned<ReadonlyArray<SpeechTurn>> => {
    const kinds = marksIn(order).marks?.filter((kind) => kind === "phoneme" || kind === "viseme") ?? []
    const mute = turns.find(({ voice }) => kinds.length > 0 && !tellsPhonemes(voice.engine))
    if (mute === undefined) return Result.succeed(turns)
    return Result.fail(
      validationFailed({ "options.marks": `the engine of ${mute.voiceId} tells no ${kinds.join(", no ")}` })
    )
  }

const inputTooLong = (characters: number, charactersMax: number) =>
  new WireError({
    status: 413,
    code: "payload_too_large",
    message: `the input has ${characters} characters, at most ${charactersMax} are taken here`,
    details: { characters, characters_max: charactersMax }
  })

const notRealTime = (voiceId: string) => {
  const message =
    `the voice ${voiceId} takes longer to speak than to be heard, so it is not streamed or spoken live: ` +
    "/v1/audio/speech, /v1/audio/dialogue and /v1/audio/captions answer with all of it, and /v1/audio/jobs speaks books"
  return new WireError({ status: 400, code: "voice_not_real_time", message })
}

const modelFor = (name: string | undefined, route: SpeechRoute): Planned<SpeechModel> => {
  const isDialogue = route === "/v1/audio/dialogue"
  const found =
    name === undefined
      ? speechModels.find((model) => model.isDefault && model.isDialogue === isDialogue)
      : findModel(name)
  if (found === undefined) return Result.fail(validationFailed({ model: `no such model: ${name}` }))
  if (found.routes.includes(route)) return Result.succeed(found)
  if (!found.hasMarks && route === timestamps) {
    const message = `${found.id} has no speech marks on a stream; tts-3.0 and tts-3.2 have`
    return Result.fail(new WireError({ status: 400, code: "speech_marks_unsupported", message }))
  }
  const only = found.isDialogue ? "only for dialogues" : "not for dialogues"
  return Result.fail(validationFailed({ model: `${found.id} is ${only}` }))
}

const formatFor = (
  order: Order,
  { route, accept }: Pick<PlanOptions, "route" | "accept">,
  model: SpeechModel
): Planned<AudioFormat> => {
  const isStream = route.startsWith(streamRoutes)
  const asked = order.output_format
  const format =
    asked !== undefined
      ? formatNamed(asked)
      : isStream
        ? formatOfAccept(accept, route === timestamps ? eventStream : undefined)
        : formatOfAudioFormat(order.audio_format ?? "wav")
  if (format === undefined) {
    return Result.fail(
      asked === undefined
        ? badRequest(`none of ${accept} can be streamed: audio/mpeg, audio/ogg, audio/aac and audio/pcm can`)
        : validationFailed({ output_format: `no such format: ${asked}` })
    )
  }
  if (isStream && !format.isStreamable) {
    return Result.fail(validationFailed({ output_format: `${format.name} cannot be streamed; pcm and mp3 can` }))
  }
  if (!model.hasMarks && (format.bitrateKbps ?? 0) >= 160) {
    return Result.fail(validationFailed({ output_format: `${format.name} is for the models of version 3` }))
  }
  return Result.succeed(format)
}

const turnsFor = (order: Order, model: SpeechModel, findVoice: FindVoice): Planned<ReadonlyArray<SpeechTurn>> => {
  const { language } = order
  if (language !== undefined && !supportsLanguage(model, language)) {
    const languages = model.languages.join(", ")
    return Result.fail(validationFailed({ language: `${model.id} speaks ${languages}, not ${language}` }))
  }
  const turns: Array<SpeechTurn> = []
  for (const { voice_id: voiceId, input } of order.turns) {
    const voice = findVoice(voiceId)
    if (voice === undefined) return Result.fail(notFound(`no voice ${voiceId}`, "voice_not_found"))
    if (voice.isSilent === true) return Result.fail(silentVoice(voiceId))
    if (voice.isOpening === true) return Result.fail(openingVoice(voiceId))
    const turn = turnFor(voice, input, { model, language, speed: order.speed ?? 1 })
    if (Result.isFailure(turn)) return Result.fail(turn.failure)
    turns.push(turn.success)
  }
  return Result.succeed(turns)
}

// A synthesizer retries opening a failed engine, at most a minute apart.
const silentVoice = (voiceId: string) =>
  serviceUnavailable(60, `the voice ${voiceId} cannot speak at present: its engine could not be opened`)

// A model is opened within some seconds of a start.
const openingVoice = (voiceId: string) =>
  serviceUnavailable(3, `the voice ${voiceId} cannot speak yet: its engine is being opened`)

interface Manner {
  readonly model: SpeechModel
  readonly language: string | undefined
  readonly speed: number
}

const turnFor = (voice: SpeakableVoice, input: string, { model, language, speed }: Manner): Planned<SpeechTurn> => {
  const voiceId = voice.id
  if (model.isEnglishOnly && !speaksEnglish(voice.locale)) {
    return Result.fail(validationFailed({ voice_id: `${model.id} speaks English only, ${voiceId} ${voice.locale}` }))
  }
  if (voice.withheld.includes(model.id)) {
    const models = voice.models.map(({ name }) => name)
    const message = `${model.id} speaks with cloned voices only in workspaces for which that is enabled`
    return Result.fail(forbidden(message, { models }))
  }
  const locale = spokenLocale(voice, model, language)
  const spoken = locale === undefined ? undefined : voice.engineVoice(locale)
  if (locale === undefined || spoken === undefined) {
    const fault = `${voiceId} does not speak ${language ?? voice.locale} with ${model.id}`
    return Result.fail(validationFailed(language === undefined ? { voice_id: fault } : { language: fault }))
  }
  return Result.succeed({ voiceId, voice: { ...spoken, ratePercent: spoken.ratePercent * speed }, input, locale })
}

// The rule for the spoken language: a model's list decides, then the request's `language`, else the voice's own.
const baseOf = (locale: string) => locale.split("-")[0]?.toLowerCase() ?? ""

const speaksEnglish = (locale: string) => baseOf(locale) === "en"

/** `en` in a model's list stands for every English; a bare language asks for any region of it. */
const supportsLanguage = (model: SpeechModel, language: string): boolean =>
  model.languages.some((known) => isInRange(language, known) || isInRange(known, language))

/** The locale for a voice to speak: the requested one, if the voice has it; otherwise nothing. */
const spokenLocale = (
  voice: Pick<SharedVoice, "locale" | "models">,
  model: SpeechModel,
  language: string | undefined
) => {
  const ofModel = voice.models.find(({ name }) => name === model.id)
  if (ofModel === undefined) return undefined
  return language === undefined ? voice.locale : ofModel.languages.find((locale) => isInRange(locale, language))
}
