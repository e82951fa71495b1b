/** Looks at a fleet again and again: its newest readings, and what stands by them. */
import { type Reading, type Scan, windowOf } from "#console/readings"
import type { Observed } from "./sightings.ts"
import { isStanding, look, type Seen, type Standing } from "./standing.ts"

// Long enough for a rate, short enough that what is mended is seen as mended within half a minute, by a look each five seconds.
const spanMs = 25_000
/** From here on rates are seen, and what is not seen any more has ended. */
const wholeMs = 20_000

export interface Looked {
  readonly atMs: number
  readonly processes: Observed["processes"]
  readonly standing: ReadonlyArray<Standing>
  /** What the look before saw too: for those who look for a few seconds alone. */
  readonly again: ReadonlyArray<Standing>
  /** False in the first seconds, which know no rates. */
  readonly isWhole: boolean
}

/** `sinceOf`: since when a condition stood before this process began to look, where that is known. */
export const looks = (sinceOf?: (id: string) => number | undefined) => {
  let readings: ReadonlyArray<Reading> = []
  let seen: Seen = new Map()
  let beganAtMs: number | undefined
  return ({ reading, targets, readiness }: Pick<Scan, "reading" | "targets" | "readiness">): Looked => {
    const { atMs } = reading
    beganAtMs ??= atMs
    readings = [...readings.filter((one) => one.atMs < atMs && atMs - one.atMs <= spanMs), reading]
    const window = windowOf(readings.length > 1 ? readings[0] : undefined, reading)
    const processes = targets.map((target) => ({
      ...target,
      answers: reading.targets.get(target.url) !== undefined,
      failing: Object.entries(readiness.get(target.url)?.checks ?? {}).filter(([, state]) => state !== "ok")
    }))
    const before = seen
    seen = look(before, { window, nowMs: atMs, processes }, sinceOf)
    return {
      atMs,
      processes,
      again: [...seen.values()].filter(({ id }) => before.has(id)),
      standing: [...seen.values()].filter((one) => isStanding(one, atMs)),
      isWhole: readings.length > 1 && atMs - beganAtMs >= wholeMs
    }
  }
}
