/** ElevenLabs' HTTP dialect, translated: its orders in our own terms, our answers and refusals in its terms. Pure. */
import { Result } from "effect"
import { speechModels, type WordMark } from "#speech/contract"
import {
  type ElevenLabsAlignment,
  elevenLabsCodes,
  elevenLabsFormatDefault,
  type ElevenLabsModels,
  elevenLabsPageMax,
  elevenLabsPageSize,
  type ElevenLabsSpeechRequest,
  type ElevenLabsVoice,
  type ElevenLabsVoices,
  type ElevenLabsVoicesQuery,
  speechInputMax
} from "#speech/api"
import { validationFailed, type WireError } from "#http"
import type { Order } from "../speaking/plan.ts"
import type { ListedVoice } from "../voices/list.ts"
import { ownModel, ownNormalization, ownVoice, type VoiceNames } from "./names.ts"
import type { VendorRefusal } from "./refusals.ts"

export interface ElevenLabsOrder {
  readonly order: Omit<Order, "turns">
  readonly voiceId: string
  /** The audio is PCM, and is to be delivered as a WAV file. */
  readonly isWav: boolean
}

interface Asked {
  readonly voiceId: string
  readonly format: string | undefined
}

export const elevenLabsOrder = (
  request: ElevenLabsSpeechRequest,
  { voiceId, format = elevenLabsFormatDefault }: Asked,
  voices: VoiceNames
): ElevenLabsOrder => {
  const { apply_text_normalization: normalization, language_code: language, model_id, voice_settings } = request
  const order = {
    output_format: ownFormat(format),
    ...(language === undefined ? {} : { language }),
    ...(voice_settings?.speed === undefined ? {} : { speed: voice_settings.speed }),
    ...ownModel(model_id, /^eleven_/u),
    ...ownNormalization(normalization)
  }
  return { order, voiceId: ownVoice(voices, voiceId), isWav: format.startsWith("wav_") }
}

/** The most that we encode Opus with. */
const opusKbpsMax = 128

/** A format of ours by ElevenLabs' name for it; other names are left as they are, and refused if they are not ours. */
const ownFormat = (name: string) => {
  const [codec, rate, kbps] = name.split("_")
  if (codec === "opus") return `ogg_24000_${Math.min(Number(kbps), opusKbpsMax)}`
  if (codec === "wav") return `pcm_${rate}`
  return name === "mp3_24000_48" ? "mp3_24000_64" : name
}

export interface Aligned {
  /** How much of the text was aligned, in UTF-16 units and in ms. */
  readonly at: number
  readonly ms: number
  readonly alignment: ElevenLabsAlignment | null
}

export const unaligned: Aligned = { at: 0, ms: 0, alignment: null }

interface Heard {
  readonly before: Aligned
  readonly marks: ReadonlyArray<WordMark>
  /** No mark follows, so that the rest of the text belongs to these. */
  readonly isAll: boolean
}

/**
 * The text's next characters, up to the end of the last mark. A word's time is divided among its characters; what is
 * between two words lasts from the end of one to the beginning of the next.
 */
export const alignTo = (text: string, { before, isAll, marks }: Heard): Aligned => {
  const [characters, starts, ends]: [Array<string>, Array<number>, Array<number>] = [[], [], []]
  let { at, ms } = before
  const add = (end: number, endMs: number) => {
    const own = Array.from(text.slice(at, end))
    const lengthMs = Math.max(0, endMs - ms) / own.length
    for (const [nth, character] of own.entries()) {
      characters.push(character)
      starts.push(Math.round(ms + nth * lengthMs) / 1_000)
      ends.push(Math.round(ms + (nth + 1) * lengthMs) / 1_000)
    }
    ;[at, ms] = [Math.max(at, end), Math.max(ms, endMs)]
  }
  for (const { end, end_time, start, start_time } of marks) {
    add(start, start_time)
    add(end, end_time)
  }
  if (isAll) add(text.length, ms)
  const alignment = {
    characters,
    character_start_times_seconds: starts,
    character_end_times_seconds: ends
  }
  return { at, ms, alignment: characters.length === 0 ? null : alignment }
}

export const elevenLabsVoice = ({ cloned, displayName, gender, id, locale, models, preview, tags }: ListedVoice) => {
  const spoken = models.filter(({ name }) => isOfTexts(name))
  const languageOf = (each: string) => each.split("-")[0] ?? each
  const voice: ElevenLabsVoice = {
    voice_id: id,
    name: displayName,
    category: cloned === undefined ? "premade" : "cloned",
    labels: {
      language: languageOf(locale),
      locale,
      ...(gender === "not_specified" ? {} : { gender }),
      ...(tags === undefined ? {} : { descriptive: tags.join(", ") })
    },
    description: null,
    preview_url: preview ?? null,
    available_for_tiers: [],
    high_quality_base_model_ids: spoken.map(({ name }) => name),
    verified_languages: spoken.flatMap(({ languages, name }) =>
      languages.map((each) => ({ language: languageOf(each), model_id: name, locale: each }))
    ),
    is_owner: cloned !== undefined
  }
  return voice
}

const isOfTexts = (name: string) => speechModels.some(({ id, isDialogue }) => id === name && !isDialogue)

/** A page's token is the id of its predecessor's last voice. */
export const elevenLabsVoices = (
  all: ReadonlyArray<ListedVoice>,
  query: ElevenLabsVoicesQuery
): Result.Result<ElevenLabsVoices, WireError> => {
  const { next_page_token: after = "", search = "", voice_ids, voice_type: type } = query
  const size = elevenLabsPageSize(query)
  if (size < 1 || size > elevenLabsPageMax) {
    return Result.fail(validationFailed({ page_size: `between 1 and ${elevenLabsPageMax}` }))
  }
  const ids = voice_ids === undefined ? undefined : [voice_ids].flat()
  const sought = search.toLowerCase()
  const isWanted = (voice: ElevenLabsVoice) =>
    (type !== "personal" || voice.is_owner) &&
    (type !== "default" || !voice.is_owner) &&
    (ids === undefined || ids.includes(voice.voice_id)) &&
    [voice.voice_id, voice.name, ...Object.values(voice.labels)].some((each) => each.toLowerCase().includes(sought))
  const wanted = all
    .map(elevenLabsVoice)
    .filter(isWanted)
    .toSorted((left, right) => (left.voice_id < right.voice_id ? -1 : 1))
  const rest = wanted.filter(({ voice_id }) => voice_id > after)
  const voices = rest.slice(0, size)
  const hasMore = rest.length > size
  return Result.succeed({
    voices,
    has_more: hasMore,
    total_count: wanted.length,
    next_page_token: hasMore ? (voices.at(-1)?.voice_id ?? null) : null
  })
}

const languageNames = new Intl.DisplayNames("en", { type: "language" })

export const elevenLabsModels: ElevenLabsModels = speechModels
  .filter(({ isDialogue }) => !isDialogue)
  .map(({ description, id, languages, name }) => ({
    model_id: id,
    name,
    description,
    can_do_text_to_speech: true,
    can_do_voice_conversion: false,
    can_be_finetuned: false,
    can_use_style: false,
    can_use_speaker_boost: false,
    maximum_text_length_per_request: speechInputMax.stream,
    languages: languages.map((each) => ({ language_id: each, name: languageNames.of(each) ?? each }))
  }))

/** Where ElevenLabs' requests have what a refusal of ours names. */
const places: Readonly<Record<string, ReadonlyArray<string>>> = {
  input: ["body", "text"],
  language: ["body", "language_code"],
  model: ["body", "model_id"],
  speed: ["body", "voice_settings", "speed"],
  voice_id: ["path", "voice_id"],
  output_format: ["query", "output_format"],
  page_size: ["query", "page_size"],
  next_page_token: ["query", "next_page_token"]
}

export const elevenLabsRefusal: VendorRefusal = ({ code, fields, message, status }, requestId) => {
  const told: { status: number; word?: string } = elevenLabsCodes[code as keyof typeof elevenLabsCodes] ?? { status }
  if (told.status !== 422) {
    const detail = { status: told.word ?? code, message, request_id: requestId }
    return { status: told.status, body: { detail } }
  }
  const faults = Object.entries(fields ?? { body: message }).map(([path, msg]) => ({
    loc: places[path] ?? (path === "body" ? ["body"] : ["body", ...path.split(".")]),
    msg,
    type: "value_error"
  }))
  return { status: 422, body: { detail: faults } }
}
