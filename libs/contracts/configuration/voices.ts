/** `Voices`: models of the operator's whose voices join the catalogue. */
import { Schema } from "effect"
import { WebUrl, optional, required, section, span, whole, withDefault } from "./keys.ts"

const Id = Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,31}$/u))

const ModelVoice = Schema.Struct({
  Id: required(Id, "The voice_id of requests. One of the catalogue's own is replaced by it."),
  Name: optional(Schema.String.check(Schema.isBetweenLength(1, 100)), "What lists show; without it the Id."),
  Locale: required(Schema.String.check(Schema.isPattern(/^[a-z]{2,3}-[A-Z]{2}$/u)), "What it speaks, as en-US."),
  Gender: withDefault(Schema.Literals(["male", "female", "not_specified"]), "not_specified", "As lists show it."),
  Speaker: withDefault(
    Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u)),
    "0",
    "The speaker in the model, by number; with a folder of styles, as Kokoro's, also by the style's name."
  ),
  GainDb: withDefault(span(-40, 40), 0, "Makes the voice as loud as others, which are at -18 LUFS."),
  Tags: withDefault(
    Schema.Array(Schema.String.check(Schema.isBetweenLength(1, 32))).check(Schema.isMaxLength(16)),
    [],
    "Words that lists show, beside `neural`."
  ),
  Preview: optional(WebUrl, "Where a listener hears it, shown as preview_audio.")
})

const VoiceModel = Schema.Struct({
  Id: required(Id, "Names the model in metrics and on the bus: `model-<Id>`."),
  Folder: required(Schema.NonEmptyString, "The folder with the model's files, as it was unpacked."),
  Threads: withDefault(whole(1, 64), 1, "Threads that compute one chunk; a chunk of the model is spoken at a time."),
  Voices: required(
    Schema.Array(ModelVoice).check(Schema.isBetweenLength(1, 1_000)),
    "Its voices: one for each speaker that callers may name."
  )
})
export interface VoiceModel extends Schema.Schema.Type<typeof VoiceModel> {}

export const Voices = section(
  {
    Models: withDefault(
      Schema.Array(VoiceModel).check(Schema.isMaxLength(32)),
      [],
      "Folders of speech models: Piper and other VITS, Matcha, Kokoro, KittenTTS, hibari (docs/voices.md). A model that cannot be used stops the start."
    ),
    ModelMegabytesMax: withDefault(
      whole(1, 65_536),
      1_024,
      "What the files of all models may have together; loaded, a model takes somewhat more memory than that."
    )
  },
  ({ Models }) => {
    const models = repeated(Models.map(({ Id }) => Id))
    const voices = repeated(Models.flatMap((model) => model.Voices.map(({ Id }) => Id)))
    if (models !== undefined) return `Models has the Id ${models} twice`
    return voices === undefined || `Models has the voice ${voices} twice`
  }
)

const repeated = (ids: ReadonlyArray<string>) => ids.find((id, at) => ids.indexOf(id) !== at)
