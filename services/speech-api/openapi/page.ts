/** The reference of the speech API as a page, from its declaration. Pure; docs/speech-api.md is written from it. */
import { audioFormats } from "#audio"
import {
  avatarBytesMax,
  consentRecordingBytesMax,
  dialogueTurnsMax,
  fullNameBytesMax,
  sampleBytesMax,
  speechInputMax,
  speechModels,
  voiceNameCharactersMax,
  voicesPageDefault,
  voicesPageMax
} from "#contracts"
import { newestVersion, speechErrorCodes } from "#contracts/speech-api"
import { apiPage, type LongList, table } from "#http"
import { emotions, ssmlLimits } from "#speech"
import { speechOpenApi } from "./document.ts"

/** The page among the documents. */
export const speechPage = (): string =>
  pageWith(
    "Made from the declaration in `libs/contracts/speech/api` by `./starling docs`. The same for machines: " +
      "[speech-openapi.json](speech-openapi.json), and `GET /openapi.json` of a running fleet."
  )

/** The page that the API itself serves. */
export const servedPage = (): string => pageWith("The same for machines: [openapi.json](openapi.json).")

/** `machines`: the line that links to the machine-readable document. */
const pageWith = (machines: string) =>
  apiPage({
    title: "The speech API",
    introduction: [machines, calls],
    document: speechOpenApi(),
    chapters: [...formatsChapter(), ...modelsChapter(), ...voicesChapter, ...ssmlChapter(), ...limitsChapter()],
    errorCodes: speechErrorCodes,
    address: "$SPEECH",
    longList
  })

const calls =
  "Calls carry `Authorization: Bearer <token>`; `./starling token make --role member` makes a token. The examples take it from " +
  "`$TOKEN`, and the address from `$SPEECH`. Headers named `Service-*` are also read and written as `Speechify-*`. " +
  `\`Service-Version\` pins a version; today's is ${newestVersion}. A field that is null in a JSON body is as if it were not there.`

const formatsChapter = () => [
  "## Formats",
  "`output_format` goes before `audio_format` and `Accept`. `_192` is encoded at 160 kbit/s, where MPEG-2 ends, and " +
    "reported as `_160`; bit rates from 160 are for the models of version 3.",
  table(
    ["output_format", "Content-Type", "audio_format", "streams"],
    audioFormats.map((format) => [
      `\`${format.name}\``,
      format.mediaType,
      format.audioFormat,
      format.isStreamable ? "yes" : "no"
    ])
  )
]

const modelsChapter = () => [
  "## Models",
  table(
    ["model", "also called", "speaks", "routes", "notes"],
    speechModels.map((model) => [
      `\`${model.id}\``,
      model.aliases.map((alias) => `\`${alias}\``).join(" "),
      model.languages.join(" "),
      model.routes.map((route) => `\`${route}\``).join(" "),
      [model.isDefault && "**default**", model.isRecommended && "recommended", model.isDeprecated && "deprecated"]
        .filter((note) => note !== false)
        .concat(model.description)
        .join("; ")
    ])
  ),
  "Without `language` a voice speaks its own locale. A language that the model or the voice does not have is refused."
]

const voicesChapter = [
  "## Voices",
  "English is best understood in the four voices of flite, which have no other language and read ASCII letters. A " +
    "recogniser (pocketsphinx with its own model of English, 98 words) got wrong, of a hundred words: `selma` 11, " +
    "`roger` 22, `alan` 23, `kal` 32. The English voices of espeak-ng, 79 to 92, speak every language of a model and " +
    "begin sooner. `selma` is the voice of the examples and, without `--voice`, of `./starling say`.",
  "The same request gets the same bytes and marks in every format, also in a voice that espeak-ng adapts to a sample, " +
    "until the host has another release of an engine. For this the voices of espeak-ng are spoken without flutter of " +
    "the pitch and without breath."
]

const ssmlChapter = () => [
  "## SSML",
  "An input that begins with `<speak>` is SSML: `p`, `s`, `break`, `prosody` (rate, pitch, range, volume), `emphasis`, " +
    '`sub`, `say-as`, and `<service:style emotion="...">` with one of ' +
    `${Object.keys(emotions).join(", ")}. \`voice\`, \`lang\`, \`mark\` and \`phoneme\` are read over: ` +
    "their words are spoken in the voice and the language of the request, also where `<voice name>` names another; for " +
    "several voices there is the dialogue route. Everything else is refused with its place. So is what begins as a " +
    "document and is none that we take: with an XML declaration, a document type, or a `<SPEAK>` in other letters."
]

const limitsChapter = () => ["## Limits", table(["what", "at most"], limits)]

const count = (value: number) => value.toLocaleString("en-US")

const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`

const limits: ReadonlyArray<ReadonlyArray<string>> = [
  ["input of a whole answer, in UTF-16 units with tags", count(speechInputMax.answer)],
  ["input of a stream, and of all turns of a dialogue", count(speechInputMax.stream)],
  ["turns of a dialogue", count(dialogueTurnsMax)],
  ["voices per page", `${voicesPageMax}; ${voicesPageDefault} for a cursor without a limit`],
  ["SSML elements, and how deep they nest", `${count(ssmlLimits.elementsMax)}, ${ssmlLimits.depthMax}`],
  [
    "silence of one break, and of all",
    `${ssmlLimits.breakMillisecondsMax / 1_000} s, ${ssmlLimits.silenceMillisecondsMax / 60_000} min`
  ],
  ["answers of one workspace at once", "`SpeechApi.ConcurrencyPerWorkspace`, for each process"],
  [
    "sample, consent recording, picture",
    `${megabytes(sampleBytesMax)}, ${megabytes(consentRecordingBytesMax)}, ${megabytes(avatarBytesMax)}`
  ],
  ["length of sample and consent recording", "10 to 30 s, 5 to 30 s; `VoiceCloning` in the configuration"],
  ["a speaker's full name, a voice's name", `${fullNameBytesMax} bytes of UTF-8, ${voiceNameCharactersMax} characters`],
  [
    "consent challenges of a workspace in an hour, and how long each lasts",
    "`VoiceCloning.ChallengesPerHour`, `VoiceCloning.ChallengeMinutes`"
  ],
  ["cloned voices of a workspace", "`VoiceCloning.VoicesPerWorkspace`"],
  ["one line of an event stream", "64 KiB"]
]

// A longer list has a section of its own.
const valuesMax = 8

const longList: LongList = (values) => {
  if (values.length <= valuesMax) return undefined
  return values.includes("tts-3.0") ? "[model](#models)" : "[format](#formats)"
}
