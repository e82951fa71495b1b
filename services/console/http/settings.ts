/** The settings of this process over HTTP. */
import { Effect } from "effect"
import { effectiveSettings, isJson } from "#contracts"
import { SettingsGroup } from "#contracts/console"
import { jsonAnswer, routesOf } from "#http"
import { Configuration, ConfigurationOrigin, Secrets } from "#runtime"
import { apiOptions, cursorText, offsetOf } from "./requests.ts"

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
