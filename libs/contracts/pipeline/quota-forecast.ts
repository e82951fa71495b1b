/** The last forecast of an agent's quota, as it stands in KV `forecasts` under the agent's name. */
import { encodeToken } from "../tokens.ts"
import { fleetReports } from "./fleet-reports.ts"

export const QuotaForecast = fleetReports["quota-forecast"].schema
export type QuotaForecast = typeof QuotaForecast.Type

export const forecastKey = (agent: string): string => encodeToken(agent)
