/** `speech`: who speaks now, how soon callers hear it, and the voices that there are. */
import { Effect } from "effect"
import { note, print } from "../console.ts"
import { type OnConsole, onConsole } from "./client.ts"
import { printList } from "./shown.ts"

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

export const showSpeech = ({ url, json }: OnConsole & { readonly json: boolean }) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.getSpeech(), (seen) =>
      Effect.gen(function* () {
        if (json) return yield* print(JSON.stringify(seen))
        if (seen.processes.length === 0) return yield* note("no process serves speech just now")
        yield* printList({ items: seen.processes, nextCursor: null }, { json, columns: processColumns })
        yield* print("")
        const voices = seen.voices.map((voice) => ({ ...voice, languages: voice.languages.join(", ") }))
        yield* printList({ items: voices, nextCursor: null }, { json, columns: voiceColumns })
      })
    )
  )
