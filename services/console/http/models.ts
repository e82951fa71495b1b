/** Models over HTTP: what the configuration sells, and how its calls ended, as counted by the gateway. */
import { Clock, Effect, Option } from "effect"
import { Kv } from "#bus"
import {
  type CallWindow,
  lastDay,
  lastMonth,
  type ModelEntry,
  ModelUptime,
  modelUptimeKey,
  type OutcomeCounts,
  uptimeOf
} from "#gateway/contract"
import { isoTime } from "#base"
import { type CallHistory, ModelsGroup, type ModelView } from "#console/api"
import { jsonAnswer, routesOf } from "#http"
import { Configuration } from "#configuration"
import { apiOptions, cursorText, entryPlaceOf, type PageRequest, refusing } from "./requests.ts"

const anyId = /^.+$/su
const readsAtOnce = 16

const listed = Effect.fnUntraced(function* (query: PageRequest) {
  const { limit, from = "" } = yield* entryPlaceOf(query, anyId)
  const { ModelGateway } = yield* Configuration
  const rest = ModelGateway.Models.filter(({ Id }) => Id > from).toSorted((left, right) =>
    left.Id < right.Id ? -1 : 1
  )
  const page = rest.slice(0, limit)
  const bucket = yield* refusing(Effect.flatMap(Kv, (kv) => kv.open("model-uptime", ModelUptime)))
  const kept = yield* refusing(
    Effect.forEach(page, ({ Id }) => bucket.get(modelUptimeKey(Id)), { concurrency: readsAtOnce })
  )
  const nowMs = yield* Clock.currentTimeMillis
  const items = page.map((entry, index) =>
    modelView(entry, Option.getOrUndefined(Option.map(kept[index] ?? Option.none(), ({ value }) => value)), nowMs)
  )
  const last = items.at(-1)
  return jsonAnswer({ items, nextCursor: last === undefined || rest.length <= limit ? null : cursorText(last.model) })
})

const never = { quarters: [], hours: [], providers: [] }

/** Pure. */
export const modelView = (entry: ModelEntry, kept: ModelUptime | undefined, nowMs: number): ModelView => {
  const { providers, ...calls } = kept ?? never
  const isByTokens = entry.FlatMicroUsd === undefined
  return {
    model: entry.Id,
    kind: entry.Kind,
    isFree: entry.Free,
    inputMicroUsdPerMillionTokens: isByTokens ? entry.InputMicroUsdPerMillionTokens : null,
    outputMicroUsdPerMillionTokens: isByTokens ? entry.OutputMicroUsdPerMillionTokens : null,
    flatMicroUsd: entry.FlatMicroUsd ?? null,
    contextTokens: entry.ContextTokens,
    outputTokensMax: entry.OutputTokensMax,
    lastDay: history(lastDay(calls, nowMs)),
    lastMonth: history(lastMonth(calls, nowMs)),
    providers: providers.map(({ provider, ...attempts }) => ({
      provider,
      lastDay: totals(lastDay(attempts, nowMs).counts),
      lastMonth: totals(lastMonth(attempts, nowMs).counts)
    }))
  }
}

const totals = (counts: OutcomeCounts) => ({
  uptime: uptimeOf(counts),
  calls: counts.answered + counts.failed + counts.leftAlone,
  ...counts
})

const history = ({ fromMs, spanMs, counts, series }: CallWindow): CallHistory => ({
  ...totals(counts),
  from: isoTime(fromMs),
  spanSeconds: spanMs / 1_000,
  series: series.map(({ atMs, ...span }) => ({ at: isoTime(atMs), ...span }))
})

export const modelRoutes = routesOf(
  ModelsGroup,
  { listModels: ({ query }) => Effect.flatMap(query, listed) },
  apiOptions
)
