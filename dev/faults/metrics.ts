/** A figure of the fleet's own process; 0 where it has none yet. */
import type { FaultFleet } from "./fleet.ts"

export const metricOf = async ({ running }: FaultFleet, series: string): Promise<number> => {
  const text = await (await fetch(`${running.ready.metrics}/metrics`)).text()
  const line = text.split("\n").find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? 0)
}
