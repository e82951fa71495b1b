/** `Voices`: the operator's models and programs whose voices join the catalogue. */
import { Schema } from "effect"
import { EnvironmentName, isName, optional, required, section, span, WebUrl, whole, withDefault } from "#base"
import { VoiceQuality } from "../voice-quality.ts"

const Id = Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9-]{0,31}$/u))

const Name = Schema.String.check(Schema.isBetweenLength(1, 100), isName)
const Locale = Schema.String.check(Schema.isPattern(/^[a-z]{2,3}-[A-Z]{2}$/u))
const Gender = Schema.Literals(["male", "female", "not_specified"])
const Speaker = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,64}$/u))
const GainDb = span(-40, 40)
const Tags = Schema.Array(Schema.String.check(Schema.isBetweenLength(1, 32))).check(Schema.isMaxLength(16))
const ModelVoice = Schema.Struct({
  Id: required(Id, "The voice_id of requests. One of the catalogue's own is replaced by it."),
  Name: optional(Name, "What lists show; without it the Id."),
  Locale: required(Locale, "What it speaks, as en-US."),
  Gender: withDefault(Gender, "not_specified", "As lists show it."),
  Speaker: withDefault(
    Speaker,
    "0",
    "The speaker in the model, by number; with a folder of styles, as Kokoro's, also by the style's name."
  ),
  GainDb: withDefault(GainDb, 0, "Makes the voice as loud as others, which are at -18 LUFS."),
  Tags: withDefault(Tags, [], "Words that lists show, beside `neural`."),
  Quality: optional(VoiceQuality, "How it is heard, as `./starling load voices` measured it (docs/voices.md)."),
  Preview: optional(WebUrl, "Where a listener hears it, shown as preview_audio.")
})

const ProcessVoice = Schema.Struct({
  Id: required(Id, "Requests name it as voice_id; it replaces a voice of the catalogue with the same."),
  Name: optional(Name, "Its name in lists, where that is not the Id."),
  Locale: required(Locale, "The language that the program is told, as en-US."),
  Gender: withDefault(Gender, "not_specified", "Shown in lists."),
  Speaker: required(Speaker, "The voice of the program, as its hello names it."),
  GainDb: withDefault(GainDb, 0, "Brings what the program speaks to -18 LUFS."),
  Tags: withDefault(Tags, [], "Further words of lists, behind which `neural` stands."),
  Quality: optional(VoiceQuality, "What `./starling load voices` found of how it is heard (docs/voices.md)."),
  Preview: optional(WebUrl, "A recording of it, which lists show as preview_audio.")
})

const VoiceModel = Schema.Struct({
  Id: required(Id, "Names the model in metrics and on the bus: `model-<Id>`."),
  Folder: required(Schema.NonEmptyString, "The folder with the model's files, as it was unpacked."),
  Threads: withDefault(whole(1, 64), 1, "Threads that compute one chunk; a chunk of the model is spoken at a time."),
  RealTime: withDefault(
    Schema.Boolean,
    true,
    "False for one that takes longer to speak than to be heard: it serves whole answers, and is refused for what is played as it comes (docs/voices.md)."
  ),
  Voices: required(
    Schema.Array(ModelVoice).check(Schema.isBetweenLength(1, 1_000)),
    "Its voices: one for each speaker that callers may name."
  )
})
export interface VoiceModel extends Schema.Schema.Type<typeof VoiceModel> {}

const Argument = Schema.String.check(Schema.isMaxLength(4_096))

const VoiceProcess = Schema.Struct({
  Id: required(Id, "Names the engine in metrics and on the bus: `process-<Id>`."),
  Command: required(Schema.NonEmptyString, "The program, by its path or by its name in PATH. No shell reads it."),
  Arguments: withDefault(Schema.Array(Argument).check(Schema.isMaxLength(64)), [], "What the program is given."),
  Folder: withDefault(Schema.NonEmptyString, "/", "Its working folder."),
  Environment: withDefault(
    Schema.Array(EnvironmentName).check(Schema.isMaxLength(64)),
    [],
    "The variables that it sees, beside PATH and LANG; of all others it sees none."
  ),
  AtOnce: withDefault(whole(1, 64), 1, "How many of it run; each speaks one chunk at a time."),
  StartSecondsMax: withDefault(
    whole(1, 600),
    60,
    "Until it has said hello and spoken a first word. Then it is killed."
  ),
  JobSecondsMax: withDefault(whole(1, 600), 60, "For one chunk. A process that takes longer hangs, and is killed."),
  AudioSecondsMax: withDefault(whole(1, 600), 120, "What one chunk may last; a chunk is a sentence at most."),
  TextCharactersMax: withDefault(whole(1, 100_000), 2_000, "What it is given at once, in UTF-16 units."),
  MemoryMegabytesMax: withDefault(
    whole(16, 1_048_576),
    8_192,
    "Of address space, which is more than the memory in use; macOS has no such limit."
  ),
  RealTime: withDefault(Schema.Boolean, true, "False where a second of speech takes it longer, as with a model."),
  Voices: required(
    Schema.Array(ProcessVoice).check(Schema.isBetweenLength(1, 1_000)),
    "What callers may name: one for each of its voices."
  )
})
export interface VoiceProcess extends Schema.Schema.Type<typeof VoiceProcess> {}

export const Voices = section(
  {
    Models: withDefault(
      Schema.Array(VoiceModel).check(Schema.isMaxLength(32)),
      [],
      "Folders of speech models: Piper and other VITS, Matcha, Kokoro, KittenTTS, hibari (docs/voices.md). A model that cannot be used stops the start."
    ),
    Processes: withDefault(
      Schema.Array(VoiceProcess).check(Schema.isMaxLength(32)),
      [],
      "Programs that speak over their standard input and output (docs/speech-engines.md). One that cannot speak costs its own voices alone."
    ),
    ModelMegabytesMax: withDefault(
      whole(1, 65_536),
      1_024,
      "What the files of all models may have together; loaded, a model takes somewhat more memory than that."
    )
  },
  ({ Models, Processes }) => {
    const models = repeated(Models.map(({ Id }) => Id))
    const processes = repeated(Processes.map(({ Id }) => Id))
    if (models !== undefined) return `Models has the Id ${models} twice`
    if (processes !== undefined) return `Processes has the Id ${processes} twice`
    const ofModels = Models.flatMap((model) => model.Voices.map(({ Id }) => Id))
    const ofProcesses = Processes.flatMap((process) => process.Voices.map(({ Id }) => Id))
    const twice = repeated(ofModels)
    if (twice !== undefined) return `Models has the voice ${twice} twice`
    const again = repeated([...ofModels, ...ofProcesses])
    return again === undefined || `Processes has the voice ${again}, which is there already`
  }
)

export interface Voices extends Schema.Schema.Type<typeof Voices> {}

const repeated = (ids: ReadonlyArray<string>) => ids.find((id, at) => ids.indexOf(id) !== at)
