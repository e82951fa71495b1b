/** How much may be asked for, as rows of the reference page. Pure. */
import { dialogueTurnsMax, speechInputMax, voicesPageDefault, voicesPageMax } from "#contracts"
import { ssmlLimits } from "#speech"

const count = (value: number) => value.toLocaleString("en-US")

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
  ["one line of an event stream", "64 KiB"]
]
