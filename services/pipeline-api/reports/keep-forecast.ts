/**
 * Keeps the last forecast of each agent's quota in KV `forecasts`: its best time to spend may still be to come, and is
 * told by the sweeper then. Reports of one agent come here in their order.
 */
import { Effect, Option } from "effect"
import type { BusError, KvBucket } from "#bus"
import { forecastKey, type QuotaForecast } from "#contracts"

export const keepForecast = (
  bucket: KvBucket<QuotaForecast>,
  forecast: QuotaForecast
): Effect.Effect<void, BusError> => {
  const key = forecastKey(forecast.agent)
  return Effect.flatMap(bucket.get(key), (held) =>
    Effect.asVoid(
      Option.isNone(held) ? bucket.create(key, forecast) : bucket.update(key, forecast, held.value.revision)
    )
  )
}
