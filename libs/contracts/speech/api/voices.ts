/** The lists of voices and models, as callers ask for them and get them. */
import { Schema } from "effect"
import { describe, documentedAs } from "../../primitives.ts"
import { Name } from "./speech.ts"

export const voicesPageMax = 200
export const voicesPageDefault = 50

/** Digits, because parameters are text on the wire. */
const Limit = Schema.String.check(Schema.isPattern(/^\d{1,6}$/u)).pipe(
  documentedAs({ type: "integer", minimum: 1, maximum: voicesPageMax })
)

export const VoicesQuery = Schema.Struct({
  cursor: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 512))).pipe(
    describe("`next_cursor` of the page before. The filters must be the same.")
  ),
  limit: Schema.optionalKey(Limit).pipe(
    describe(`Voices per page, 1 to ${voicesPageMax}. Without limit and cursor all voices are one page.`)
  ),
  type: Schema.optionalKey(Schema.Literals(["personal", "shared"])).pipe(
    describe("`shared` is the catalogue, `personal` what the workspace has cloned.")
  ),
  locale: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]{1,35}$/u))).pipe(
    describe("A range of locales: `en` takes en-US and en-GB, `en-US` only itself. Case does not matter.")
  ),
  gender: Schema.optionalKey(Schema.Literals(["male", "female", "not_specified", "notSpecified"])).pipe(
    describe("`notSpecified` is the old spelling of `not_specified`.")
  ),
  model: Schema.optionalKey(Name).pipe(describe("Voices that speak with this model."))
})
export interface VoicesQuery extends Schema.Schema.Type<typeof VoicesQuery> {}

const VoiceLanguage = Schema.Struct({
  locale: Schema.String,
  preview_audio: Schema.optionalKey(Schema.NullOr(Schema.String))
}).annotate({ identifier: "VoiceLanguage" })

export const Voice = Schema.Struct({
  id: Schema.String,
  display_name: Schema.String,
  gender: Schema.Literals(["male", "female", "not_specified", "notSpecified"]).pipe(
    describe("Callers of old get `notSpecified` for `not_specified`.")
  ),
  locale: Schema.String,
  type: Schema.Literals(["shared", "personal"]).pipe(describe("`personal` voices are the workspace's own, cloned.")),
  models: Schema.Array(Schema.Struct({ name: Schema.String, languages: Schema.Array(VoiceLanguage) })).pipe(
    describe("The models the voice speaks with, and its languages with each; its own first.")
  ),
  avatar_image: Schema.optionalKey(Schema.NullOr(Schema.String)).pipe(
    describe("Where the picture of a cloned voice is, from the API's own address and with the same token.")
  ),
  preview_audio: Schema.optionalKey(Schema.NullOr(Schema.String)),
  tags: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({ identifier: "Voice" })
export interface Voice extends Schema.Schema.Type<typeof Voice> {}

export const VoiceList = Schema.Struct({
  voices: Schema.Array(Voice),
  next_cursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page.")),
  has_more: Schema.Boolean
}).annotate({ identifier: "VoiceList" })
export interface VoiceList extends Schema.Schema.Type<typeof VoiceList> {}

/** Before version 2026-07-07 the voices were the whole answer. */
export const VoiceListOfAnyVersion = Schema.Union(
  [VoiceList, Schema.Array(Voice).annotate({ description: "For callers of old." })],
  { mode: "oneOf" }
)

export const Model = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  default: Schema.Boolean.pipe(describe("Used when a request names no model.")),
  recommended: Schema.Boolean,
  deprecated: Schema.Boolean,
  description: Schema.String,
  languages: Schema.Array(Schema.String).pipe(describe("`en` stands for every English.")),
  endpoints: Schema.Array(Schema.String).pipe(describe("The routes the model may be passed to.")),
  curated_voices: Schema.Boolean,
  english_voices_only: Schema.Boolean
}).annotate({ identifier: "Model" })
export interface Model extends Schema.Schema.Type<typeof Model> {}

export const ModelList = Schema.Struct({
  models: Schema.Array(Model),
  dialogue_models: Schema.Array(Model).pipe(describe("Only for the dialogue route."))
}).annotate({ identifier: "ModelList" })
export interface ModelList extends Schema.Schema.Type<typeof ModelList> {}
