/** The voices on the wire: filtered, then paged. Pure. */
import { Result } from "effect"
import { findModel, type VoiceQuality } from "#speech/contract"
import { type Voice, voicesPageDefault, voicesPageMax, type VoicesQuery } from "#speech/api"
import { validationFailed, type WireError } from "#http"
import type { SharedVoice } from "#speech"
import { previewPath } from "./preview.ts"
import type { ClonedVoice } from "./records.ts"
import { clonedModels, type CloneRules, isInRange } from "./speakable.ts"

/** A voice of the catalogue, or one that a workspace has cloned. */
export interface ListedVoice extends Pick<SharedVoice, "id" | "displayName" | "locale" | "models" | "isRealTime"> {
  readonly gender: "male" | "female" | "not_specified"
  readonly quality?: VoiceQuality
  readonly tags?: ReadonlyArray<string>
  /** Where it can be heard, other than at our own address. */
  readonly preview?: string
  /** Present only on a cloned voice. */
  readonly cloned?: { readonly hasAvatar: boolean }
}

export const voiceBody = ({
  id,
  displayName,
  gender,
  locale,
  models,
  quality,
  isRealTime = true,
  tags,
  preview,
  cloned
}: ListedVoice): Voice => ({
  id,
  display_name: displayName,
  gender,
  locale,
  type: cloned === undefined ? "shared" : "personal",
  models: models.map(({ name, languages }) => ({
    name,
    languages: languages.map((each) => ({
      locale: each,
      ...(cloned === undefined ? { preview_audio: previewPath(id, each) } : {})
    }))
  })),
  ...(cloned === undefined
    ? { preview_audio: preview ?? previewPath(id) }
    : { avatar_image: cloned.hasAvatar ? `/v1/voices/${id}/avatar` : null }),
  ...(quality === undefined ? {} : { quality }),
  ...(isRealTime ? {} : { real_time: false }),
  ...(tags === undefined ? {} : { tags })
})

export const listedClone = (voice: ClonedVoice, { isExpressive }: Pick<CloneRules, "isExpressive">): ListedVoice => ({
  id: voice.id,
  displayName: voice.name,
  gender: voice.gender,
  locale: voice.locale,
  models: clonedModels(voice.locale, isExpressive),
  cloned: { hasAvatar: voice.avatar !== null }
})

/** The spelling of older versions. */
export const withOldGender = (voice: Voice): Voice =>
  voice.gender === "not_specified" ? { ...voice, gender: "notSpecified" } : voice

export interface VoicePage {
  readonly voices: ReadonlyArray<Voice>
  readonly next_cursor: string | null
  readonly has_more: boolean
}

/** Sorted by id, which is what a cursor contains. Without limit and cursor everything is one page. */
export const pageOfVoices = (
  all: ReadonlyArray<ListedVoice>,
  query: VoicesQuery
): Result.Result<VoicePage, WireError> => {
  const limit = query.limit === undefined ? undefined : Number(query.limit)
  if (limit !== undefined && (limit < 1 || limit > voicesPageMax)) {
    return Result.fail(validationFailed({ limit: `between 1 and ${voicesPageMax}` }))
  }
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor)
  if (query.cursor !== undefined && after === undefined) {
    return Result.fail(validationFailed({ cursor: "not a cursor that was given out" }))
  }
  const model = query.model === undefined ? undefined : findModel(query.model)
  if (query.model !== undefined && model === undefined) {
    return Result.fail(validationFailed({ model: `no such model: ${query.model}` }))
  }
  const wanted = all
    .toSorted(byId)
    .filter(
      (voice) =>
        (query.type === undefined || (query.type === "shared") === (voice.cloned === undefined)) &&
        (query.locale === undefined || isInRange(voice.locale, query.locale)) &&
        (query.gender === undefined || voice.gender === query.gender.replace("notSpecified", "not_specified")) &&
        (model === undefined || voice.models.some(({ name }) => name === model.id)) &&
        (after === undefined || voice.id > after)
    )
  const size = limit ?? (after === undefined ? wanted.length : voicesPageDefault)
  const page = wanted.slice(0, size)
  const last = page.at(-1)
  const hasMore = wanted.length > page.length
  return Result.succeed({
    voices: page.map(voiceBody),
    next_cursor: hasMore && last !== undefined ? encodeCursor(last.id) : null,
    has_more: hasMore
  })
}

const byId = (left: ListedVoice, right: ListedVoice) => (left.id < right.id ? -1 : 1)

const cursorPrefix = "v1:"
const encodeCursor = (id: string) => Buffer.from(`${cursorPrefix}${id}`, "utf8").toString("base64url")

const decodeCursor = (cursor: string) => {
  const text = Buffer.from(cursor, "base64url").toString("utf8")
  return text.startsWith(cursorPrefix) && encodeCursor(text.slice(cursorPrefix.length)) === cursor
    ? text.slice(cursorPrefix.length)
    : undefined
}
