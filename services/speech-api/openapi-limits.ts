/** How much may be asked for, as rows of the reference page. Pure. */
import {
  avatarBytesMax,
  consentRecordingBytesMax,
  dialogueTurnsMax,
  fullNameBytesMax,
  sampleBytesMax,
  speechInputMax,
  voiceNameCharactersMax,
  voicesPageDefault,
  voicesPageMax
} from "#contracts"
import { ssmlLimits } from "#speech"

const count = (value: number) => value.toLocaleString("en-US")

const megabytes = (bytes: number) => `${bytes / 1_000_000} MB`

export const limits: ReadonlyArray<ReadonlyArray<string>> = [
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
