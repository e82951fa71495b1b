/**
 * `models`: what is sold at which price, and how often it answered.
 *
 * `speech`: who speaks now, how soon callers hear it, and the voices that there are.
 */
import { Effect } from "effect"
import { decimalAmount } from "#x402"
import { note, print } from "../console.ts"
import { givenOf, type OnConsole, onConsole, printList } from "./client.ts"

interface ModelsOrder extends OnConsole {
  readonly limit: number
  readonly cursor: string | undefined
  readonly json: boolean
}

const columns = {
  model: "model",
  "price, USD": "price",
  context: "contextTokens",
  "up, 24 h": "day",
  calls: "dayCalls",
  "up, 30 d": "month",
  "calls ": "monthCalls"
}

interface Priced {
  readonly isFree: boolean
  readonly inputMicroUsdPerMillionTokens: number | null
  readonly outputMicroUsdPerMillionTokens: number | null
  readonly flatMicroUsd: number | null
}

const microDecimals = 6
const dollars = (microUsd: number | null) => decimalAmount(BigInt(microUsd ?? 0), microDecimals)

/** Of each call, or of a million tokens. Pure. */
export const priceText = (model: Priced): string => {
  if (model.isFree) return "free"
  if (model.flatMicroUsd !== null) return `${dollars(model.flatMicroUsd)} a call`
  const [asked, answered] = [model.inputMicroUsdPerMillionTokens, model.outputMicroUsdPerMillionTokens]
  return `${dollars(asked)} in, ${dollars(answered)} out, a million tokens`
}

/** A share as people say it, never rounded up to all or down to none. Pure. */
export const percentText = (share: number | null): string => {
  if (share === null) return "-"
  const hundredths = share === 1 ? 10_000 : Math.min(9_999, Math.max(share === 0 ? 0 : 1, Math.round(share * 10_000)))
  return `${hundredths / 100} %`
}

export const listModels = ({ url, json, limit, cursor }: ModelsOrder) =>
  onConsole({ url }, (client) =>
    Effect.flatMap(client.listModels({ query: { ...givenOf({ cursor }), limit: String(limit) } }), (page) =>
      Effect.gen(function* () {
        const items = page.items.map((model) =>
          json
            ? model
            : {
                ...model,
                price: priceText(model),
                day: percentText(model.lastDay.uptime),
                dayCalls: model.lastDay.calls,
                month: percentText(model.lastMonth.uptime),
                monthCalls: model.lastMonth.calls
              }
        )
        yield* printList({ items, nextCursor: page.nextCursor }, { json, columns, whole: ["model"] })
        if (items.length === 0) return yield* note("this fleet sells no models")
        if (!json && page.items.every(({ lastMonth }) => lastMonth.calls === 0)) {
          yield* note("no call has been counted yet; ./starling pay makes one, and it is counted within a minute")
        }
      })
    )
  )

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
