/** The fleet over HTTP: its processes live, those that serve speech, and the settings of this one. */
import { Effect, Stream } from "effect"
import { FleetGroup, SettingsGroup, SpeechGroup } from "#contracts/console"
import { Admission, Caller, eventsAnswer, jsonAnswer, jsonEvent, routesOf } from "#http"
import { Kv } from "#bus"
import { effectiveSettings, isJson, isoTime, SpeechFigures } from "#contracts"
import { Configuration, ConfigurationOrigin, Secrets } from "#runtime"
import { FleetWatch } from "../FleetWatch.ts"
import { apiOptions, cursorText, offsetOf, refusing, whileSignedIn } from "./requests.ts"

export const fleetRoutes = routesOf(
  FleetGroup,
  {
    getFleet: () => Effect.flatMap(FleetWatch, ({ frame }) => Effect.map(frame, (shown) => jsonAnswer(shown))),

    streamFleet: () =>
      Effect.gen(function* () {
        yield* (yield* Admission).enter((yield* Caller).workspace)
        const { frames } = yield* FleetWatch
        return yield* eventsAnswer(whileSignedIn(Stream.map(frames, (frame) => jsonEvent(frame))))
      })
  },
  apiOptions
)

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

/** Every text in a value, without the secrets that this process knows: one may stand where none belongs. */
const redacted = (value: unknown, redact: (text: string) => string): unknown => {
  if (typeof value === "string") return redact(value)
  if (Array.isArray(value)) return value.map((entry) => redacted(entry, redact))
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redacted(part, redact)]))
}

export const settingRoutes = routesOf(
  SettingsGroup,
  {
    listSettings: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const { offset, limit } = yield* offsetOf(asked)
        const { file, sources } = yield* ConfigurationOrigin
        const { redact } = yield* Secrets
        const all = effectiveSettings(yield* Configuration, sources).filter(
          ({ key }) => asked.section === undefined || key.startsWith(`${asked.section}.`)
        )
        const items = all.slice(offset, offset + limit).map((setting) => ({
          ...setting,
          value: redacted(setting.value, redact),
          default: redacted(setting.default, redact)
        }))
        const next = offset + items.length
        return jsonAnswer({ file, items, nextCursor: next >= all.length ? null : cursorText(String(next)) })
      })
  },
  apiOptions
)
