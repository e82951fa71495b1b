/** `speech`: who speaks now, how soon callers hear it, and the available voices. */
import { Effect } from "effect"
import { note, print } from "../console.ts"
import { json } from "../flags.ts"
import { printTable } from "../answers.ts"
import { consoleCommand } from "./operation.ts"

const processColumns = {
  process: "instance",
  started: "startedAt",
  speaking: "sessions",
  "at most": "sessionsMax",
  answers: "firstBytes",
  "first byte, ms": "firstByteMedianMs",
  "19 of 20, ms": "firstByteP95Ms",
  "fell silent": "underruns"
}
const voiceColumns = {
  voice: "id",
  name: "name",
  gender: "gender",
  own: "locale",
  languages: "languages",
  engine: "engine"
}

export const speech = consoleCommand(
  "speech",
  {
    about:
      "Speech as the console sees it: the processes that serve it, with their figures of the last five minutes, and the voices that everybody has.",
    examples: ["starling speech"],
    flags: { json }
  },
  (client, { json }) =>
    Effect.gen(function* () {
      const seen = yield* client.getSpeech()
      if (json) return yield* print(JSON.stringify(seen))
      if (seen.processes.length === 0) return yield* note("no process serves speech at the moment")
      yield* printTable(processColumns, seen.processes)
      yield* print("")
      const voices = seen.voices.map((voice) => ({ ...voice, languages: voice.languages.join(", ") }))
      yield* printTable(voiceColumns, voices)
    })
)
