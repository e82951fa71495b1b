/** The models that a caller can name, and the purpose of each. Two spellings can name the same model. */

export type ModelId = "tts-3.0" | "tts-3.2" | "tts-english" | "tts-multilingual" | "tts-dialogue-1.0"

export interface SpeechModel {
  readonly id: ModelId
  /** Other spellings that callers can use. */
  readonly aliases: ReadonlyArray<string>
  readonly name: string
  readonly isDefault: boolean
  readonly isRecommended: boolean
  readonly isDeprecated: boolean
  readonly description: string
  readonly languages: ReadonlyArray<string>
  readonly routes: ReadonlyArray<string>
  readonly hasMarks: boolean
  readonly isEnglishOnly: boolean
  readonly isDialogue: boolean
}

const speech = "/v1/audio/speech"
const stream = "/v1/audio/stream"
const timestamps = "/v1/audio/stream/with-timestamps"
const dialogue = "/v1/audio/dialogue"
const jobs = "/v1/audio/jobs"
const multilingual = ["en", "de-DE", "es-ES", "es-MX", "fr-FR", "it-IT", "pt-BR"]
const beyond = ["nl-NL", "pl-PL", "sv-SE", "cs-CZ", "tr-TR", "ru-RU", "hi-IN", "zh-CN"]

export const speechModels: ReadonlyArray<SpeechModel> = [
  {
    id: "tts-3.0",
    aliases: ["simba-3.0", "simba-3.5"],
    name: "TTS 3.0",
    isDefault: true,
    isRecommended: false,
    isDeprecated: false,
    description: "Streams from the first clause on, in seven locales, with word marks.",
    languages: multilingual,
    routes: [speech, stream, timestamps, jobs],
    hasMarks: true,
    isEnglishOnly: false,
    isDialogue: false
  },
  {
    id: "tts-3.2",
    aliases: ["simba-3.2"],
    name: "TTS 3.2",
    isDefault: false,
    isRecommended: true,
    isDeprecated: false,
    description: "The quickest to the first byte, English only, with word marks.",
    languages: ["en"],
    routes: [speech, stream, timestamps, jobs],
    hasMarks: true,
    isEnglishOnly: true,
    isDialogue: false
  },
  {
    id: "tts-english",
    aliases: ["simba-english", "simba-base", "simba-turbo"],
    name: "TTS English",
    isDefault: false,
    isRecommended: false,
    isDeprecated: true,
    description: "Kept for callers of old; no word marks on the stream.",
    languages: ["en"],
    routes: [speech, stream, jobs],
    hasMarks: false,
    isEnglishOnly: true,
    isDialogue: false
  },
  {
    id: "tts-multilingual",
    aliases: ["simba-multilingual"],
    name: "TTS Multilingual",
    isDefault: false,
    isRecommended: false,
    isDeprecated: true,
    description: "Kept for callers of old; no word marks on the stream.",
    languages: [...multilingual, ...beyond],
    routes: [speech, stream, jobs],
    hasMarks: false,
    isEnglishOnly: false,
    isDialogue: false
  },
  {
    id: "tts-dialogue-1.0",
    aliases: ["simba-dialogue-1.0"],
    name: "TTS Dialogue 1.0",
    isDefault: true,
    isRecommended: true,
    isDeprecated: false,
    description: "Several voices take turns; marks carry the turn.",
    languages: multilingual,
    routes: [dialogue],
    hasMarks: true,
    isEnglishOnly: false,
    isDialogue: true
  }
]

/** The model with this name or alias; undefined for any other name. */
export const findModel = (name: string): SpeechModel | undefined =>
  speechModels.find(({ id, aliases }) => id === name || aliases.includes(name))
