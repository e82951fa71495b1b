/** Times and money as the wire writes them. Pure. */
import { isoTime } from "#contracts"

export const maybeTime = (epochMs: number | null): string | null => (epochMs === null ? null : isoTime(epochMs))

const microUsdPerUsd = 1_000_000
export const usdOf = (microUsd: number): number => microUsd / microUsdPerUsd
export const microUsdOf = (usd: number): number => Math.round(usd * microUsdPerUsd)
