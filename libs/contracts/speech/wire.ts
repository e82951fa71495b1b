/** The bodies of the speech API, as callers send them. Field names are those of the wire. */
import { Schema } from "effect"
import { says } from "./says.ts"

export * from "./wire-answers.ts"

/** UTF-16 units, tags counted. Longer inputs are 413, so the schemas leave the length to the route. */
export const speechInputMax = { answer: 2_000, stream: 20_000 } as const

const Name = Schema.String.check(Schema.isBetweenLength(1, 128))
const Input = Schema.String.check(Schema.isMinLength(1)).pipe(
  says("Plain text, or SSML when it begins with `<speak>`. Emotion, pitch, rate and pauses are set through SSML.")
)
const VoiceId = Name.pipe(says("The id of a voice, from the list of voices."))
/** A language and a region, as in `en-US`; a bare language is taken as a range. */
const Language = Schema.String.check(Schema.isPattern(/^[A-Za-z]{2,3}(-[A-Za-z]{2})?$/u))

export const SpeechOptions = Schema.Struct({
  loudness_normalization: Schema.optionalKey(Schema.Boolean).pipe(
    says(
      "Levels the audio to -14 LUFS (ITU-R BS.1770) while it streams: within 1 LU from three seconds of speech on, " +
        "within 2 for a word or two. Peaks are bent below about -2 dBFS."
    )
  ),
  text_normalization: Schema.optionalKey(Schema.Boolean).pipe(
    says("Says numbers, dates, units and abbreviations as words. They are marked as they were sent.")
  )
}).annotate({ identifier: "SpeechOptions" })

export const audioFormatNames = ["wav", "mp3", "ogg", "aac", "pcm"] as const

const options = {
  language: Schema.optionalKey(Language).pipe(
    says("What is spoken, as `de-DE`; a bare language is any region of it. The voice's own locale without it.")
  ),
  model: Schema.optionalKey(Name).pipe(says("The id of a model; the default model of the route without it.")),
  options: Schema.optionalKey(SpeechOptions),
  output_format: Schema.optionalKey(Name).pipe(
    says("Codec, sample rate and bit rate, as `mp3_24000_64`. Goes before `audio_format` and `Accept`.")
  )
}
const audioFormat = Schema.optionalKey(Schema.Literals(audioFormatNames)).pipe(
  says("The container. Today's default is wav; it may change, so name the one you expect.")
)
const spoken = { input: Input, voice_id: VoiceId, ...options }

export const StreamRequest = Schema.Struct(spoken).annotate({ identifier: "StreamRequest" })
export interface StreamRequest extends Schema.Schema.Type<typeof StreamRequest> {}

export const SpeechRequest = Schema.Struct({ ...spoken, audio_format: audioFormat }).annotate({
  identifier: "SpeechRequest"
})
export interface SpeechRequest extends Schema.Schema.Type<typeof SpeechRequest> {}

/** As many voices as a scene has; more is several scenes. */
export const dialogueTurnsMax = 100

const Turn = Schema.Struct({ voice_id: VoiceId, input: Input }).annotate({ identifier: "DialogueTurn" })

export const DialogueRequest = Schema.Struct({
  turns: Schema.Array(Turn)
    .check(Schema.isBetweenLength(1, dialogueTurnsMax))
    .pipe(says("Spoken one after the other. The length of the input is that of all turns together.")),
  ...options,
  audio_format: audioFormat
}).annotate({ identifier: "DialogueRequest" })
export interface DialogueRequest extends Schema.Schema.Type<typeof DialogueRequest> {}

export const voicesPageMax = 200
export const voicesPageDefault = 50

const WholeNumber = Schema.String.check(Schema.isPattern(/^\d{1,6}$/u))

export const VoicesQuery = Schema.Struct({
  cursor: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 512))).pipe(
    says("`next_cursor` of the page before. The filters must be the same.")
  ),
  limit: Schema.optionalKey(WholeNumber).pipe(
    says(`Voices per page, 1 to ${voicesPageMax}. Without limit and cursor all voices are one page.`)
  ),
  type: Schema.optionalKey(Schema.Literals(["personal", "shared"])).pipe(
    says("`shared` is the catalogue, `personal` what the workspace has cloned.")
  ),
  locale: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9-]{1,35}$/u))).pipe(
    says("A range of locales: `en` takes en-US and en-GB, `en-US` only itself. Case does not matter.")
  ),
  gender: Schema.optionalKey(Schema.Literals(["male", "female", "not_specified", "notSpecified"])).pipe(
    says("`notSpecified` is the old spelling of `not_specified`.")
  ),
  model: Schema.optionalKey(Name).pipe(says("Voices that speak with this model."))
})
export interface VoicesQuery extends Schema.Schema.Type<typeof VoicesQuery> {}
