/** Speech over HTTP: what its processes tell of themselves. */
import { Effect, Stream } from "effect"
import { Kv } from "#bus"
import { isoTime, SpeechFigures } from "#contracts"
import { SpeechGroup } from "#contracts/console"
import { jsonAnswer, routesOf } from "#http"
import { apiOptions, refusing } from "./requests.ts"

// More pods than any fleet has; a record has 16 KiB at most.
const processesMax = 256

export const speechRoutes = routesOf(
  SpeechGroup,
  {
    getSpeech: () =>
      Effect.gen(function* () {
        const bucket = yield* refusing((yield* Kv).open("speech-figures", SpeechFigures))
        const told = yield* refusing(Stream.runCollect(Stream.take(bucket.scan("*"), processesMax)))
        const voices = new Map(told.flatMap(({ value }) => value.voices.map((voice) => [voice.id, voice] as const)))
        return jsonAnswer({
          sessions: told.reduce((sum, { value }) => sum + value.sessions, 0),
          processes: told.map(({ key, value: { startedAtMs, voices: _voices, ...figures } }) => ({
            instance: key,
            startedAt: isoTime(startedAtMs),
            ...figures
          })),
          // A process that is gone takes its voices along.
          voices: [...voices.values()].map((voice) => ({ ...voice, hasPreview: true }))
        })
      })
  },
  apiOptions
)
