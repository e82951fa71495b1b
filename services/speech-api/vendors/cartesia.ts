/** Cartesia's dialect, live and by HTTP, translated: its orders in our own terms, our answers in its terms. Pure. */
import { Result } from "effect"
import type { WordMark } from "#speech/contract"
import {
  cartesiaPage,
  type CartesiaFormat,
  type CartesiaRequest,
  type CartesiaVoice,
  type CartesiaVoices,
  type CartesiaVoicesQuery
} from "#speech/api"
import { validationFailed, type WireError } from "#http"
import type { Order } from "../speaking/plan.ts"
import type { ListedVoice } from "../voices/list.ts"
import { ownModel, ownNormalization, ownVoice, type VoiceNames } from "./names.ts"
import type { VendorRefusal } from "./refusals.ts"

type Asked = Pick<
  CartesiaRequest,
  "generation_config" | "language" | "locale" | "model_id" | "normalization" | "voice"
> & { readonly output_format: CartesiaFormat }

export interface CartesiaOrder extends Omit<Order, "turns"> {
  readonly voiceId: string
}

export const cartesiaOrder = (asked: Asked, voices: VoiceNames): Result.Result<CartesiaOrder, WireError> => {
  const { generation_config, locale, language = locale, model_id, normalization, output_format, voice } = asked
  const { container, sample_rate } = output_format
  const isG711 = container !== "mp3" && formats[output_format.encoding] !== "pcm"
  if (isG711 && sample_rate !== 8_000) {
    const fault = `${output_format.encoding} has 8000 samples a second`
    return Result.fail(validationFailed({ "output_format.sample_rate": fault }))
  }
  return Result.succeed({
    voiceId: ownVoice(voices, typeof voice === "string" ? voice : voice.id),
    output_format:
      container === "mp3"
        ? `mp3_${sample_rate}_${output_format.bit_rate / 1_000}`
        : `${formats[output_format.encoding]}_${sample_rate}`,
    ...(language === undefined ? {} : { language }),
    ...(generation_config?.speed === undefined ? {} : { speed: generation_config.speed }),
    ...ownModel(model_id, /^sonic/u),
    ...ownNormalization(normalization)
  })
}

const formats = { pcm_s16le: "pcm", pcm_f32le: "pcm", pcm_mulaw: "ulaw", pcm_alaw: "alaw" } as const

/** Samples of 16 bits as floats from -1 to 1. */
export const floatsOf = (bytes: Uint8Array): Uint8Array => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const floats = new Uint8Array(bytes.length * 2)
  const written = new DataView(floats.buffer)
  for (let at = 0; at + 1 < bytes.length; at += 2) written.setFloat32(2 * at, view.getInt16(at, true) / 32_768, true)
  return floats
}

interface Heard {
  readonly contextId: string | undefined
  readonly bytes: Uint8Array
  readonly marks: ReadonlyArray<WordMark>
}

const named = (contextId: string | undefined) => (contextId === undefined ? {} : { context_id: contextId })

/** A chunk of audio and the times of its words, of what there is. */
export const cartesiaChunks = ({ bytes, contextId, marks }: Heard) => {
  const unfinished = { ...named(contextId), done: false, status_code: 206 }
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64")
  const word_timestamps = {
    words: marks.map(({ value }) => value),
    start: marks.map(({ start_time }) => start_time / 1_000),
    end: marks.map(({ end_time }) => end_time / 1_000)
  }
  return [
    ...(data === "" ? [] : [{ type: "chunk", data, step_time: 0, ...unfinished } as const]),
    ...(marks.length === 0 ? [] : [{ type: "timestamps", word_timestamps, ...unfinished } as const])
  ]
}

export const cartesiaDone = (contextId: string | undefined) =>
  ({ type: "done", ...named(contextId), done: true, status_code: 200 }) as const

/** A refusal's description, in an answer or in an event. */
export const cartesiaFault = ({ code, fields, message, status }: WireError, requestId: string) => {
  const said =
    fields === undefined
      ? message
      : Object.entries(fields)
          .map((fault) => fault.join(": "))
          .join("; ")
  return { title: code, message: said, error_code: code, status_code: status, request_id: requestId }
}

export const cartesiaRefusal: VendorRefusal = (error, requestId) => ({
  status: error.status,
  body: cartesiaFault(error, requestId)
})

const genders = { female: "feminine", male: "masculine", not_specified: null } as const

export const cartesiaVoice = ({ cloned, displayName, gender, id, locale, models, tags = [] }: ListedVoice) => {
  const [language = locale, country = null] = locale.split("-")
  const locales = new Set([locale, ...models.flatMap(({ languages }) => languages)])
  const isOwner = cloned !== undefined
  const voice: CartesiaVoice = {
    id,
    name: displayName,
    tagline: "",
    description: tags.join(", "),
    access: isOwner ? "private" : "public",
    visibility: isOwner ? "owner" : "all",
    is_owner: isOwner,
    is_public: !isOwner,
    language,
    country,
    locales: [...locales].map((each) => ({ locale: each, is_native: each === locale })),
    gender: genders[gender],
    created_at: "1970-01-01T00:00:00Z"
  }
  return voice
}

export const cartesiaVoices = (
  all: ReadonlyArray<ListedVoice>,
  { ending_before: before, gender, is_owner, language, limit, q = "", starting_after: after = "" }: CartesiaVoicesQuery
): Result.Result<CartesiaVoices, WireError> => {
  const size = limit === undefined ? cartesiaPage.default : Number(limit)
  if (size < 1 || size > cartesiaPage.max) {
    return Result.fail(validationFailed({ limit: `between 1 and ${cartesiaPage.max}` }))
  }
  const rest = all
    .map(cartesiaVoice)
    .filter(
      (voice) =>
        voice.id > after &&
        (before === undefined || voice.id < before) &&
        (gender === undefined || voice.gender === gender) &&
        (language === undefined || voice.language === language) &&
        (is_owner === undefined || String(voice.is_owner) === is_owner) &&
        [voice.id, voice.name].some((each) => each.toLowerCase().includes(q.toLowerCase()))
    )
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const data = before === undefined ? rest.slice(0, size) : rest.slice(-size)
  const hasMore = rest.length > data.length
  return Result.succeed({
    data,
    has_more: hasMore,
    next_page: hasMore ? ((before === undefined ? data.at(-1) : data[0])?.id ?? null) : null
  })
}
