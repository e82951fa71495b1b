/** Plays faults that do not touch each other at the same time, and notes how the console sees them begin and end. */
import type { Fault, Mend } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"

export interface Played {
  readonly condition: string
  /** Null: not within its time. */
  readonly seenAfterSeconds: number | null
  readonly goneAfterSeconds: number | null
  /** Nothing of the same or a higher severity stands that is not of these faults. */
  readonly isOnTop: boolean
  /** Critical conditions that no other explains, and that none of the faults makes true. */
  readonly othersCritical: ReadonlyArray<string>
}

export interface Seen {
  readonly name: string
  readonly severity: string
  readonly causedBy: string | null
}

export interface Conditions {
  readonly isWhole: boolean
  readonly items: ReadonlyArray<Seen>
}

const withinMsUsual = 30_000
const lookEveryMs = 500

export const conditionsOf = async ({ running }: FaultFleet): Promise<Conditions> => {
  const answer = await fetch(`${running.ready.console}/conditions`, {
    headers: { authorization: `Bearer ${running.ready.token}` }
  })
  if (!answer.ok) throw new Error(`the console answers ${answer.status}`)
  return (await answer.json()) as Conditions
}

/** `whileSeen` runs while all of them are seen. */
export const play = async (
  fleet: FaultFleet,
  faults: ReadonlyArray<Fault>,
  whileSeen: (conditions: Conditions) => Promise<unknown> = async () => undefined
): Promise<ReadonlyArray<Played>> => {
  const mends: Array<Mend> = []
  const begin = async (fault: Fault) => {
    mends.push(await fault.begin(fleet))
    return await secondsUntil(fleet, fault, { isWanted: true, among: rootsOf, withinMs: fault.slow?.seenMs })
  }
  let played: ReadonlyArray<Omit<Played, "goneAfterSeconds">> = []
  try {
    const seen = await Promise.all(faults.map(begin))
    const now = await conditionsOf(fleet)
    played = faults.map((fault, index) => ({
      condition: fault.condition,
      seenAfterSeconds: seen[index] ?? null,
      ...standingOf(now.items, fault, faults)
    }))
    await whileSeen(now)
  } finally {
    await Promise.all(mends.map((mend) => mend()))
  }
  const gone = await Promise.all(
    faults.map((fault) => secondsUntil(fleet, fault, { isWanted: false, among: allOf, withinMs: fault.slow?.goneMs }))
  )
  return played.map((one, index) => ({ ...one, goneAfterSeconds: gone[index] ?? null }))
}

const allOf = ({ items }: Conditions) => items
const rootsOf = ({ items }: Conditions) => items.filter(({ causedBy }) => causedBy === null)

interface Wanted {
  readonly isWanted: boolean
  readonly among: (conditions: Conditions) => ReadonlyArray<Seen>
  readonly withinMs: number | undefined
}

const secondsUntil = async (fleet: FaultFleet, { condition }: Fault, wanted: Wanted) => {
  const { isWanted, among, withinMs = withinMsUsual } = wanted
  const beganMs = performance.now()
  for (;;) {
    // While the broker hangs the console may not answer.
    const found = await conditionsOf(fleet).catch(() => undefined)
    const waitedMs = performance.now() - beganMs
    const isSeen = found !== undefined && among(found).some(({ name }) => name === condition)
    if (found !== undefined && isSeen === isWanted) return waitedMs / 1_000
    if (waitedMs > withinMs) return null
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
}

const ranks = ["critical", "warning", "info"]

/** Pure. */
export const standingOf = (items: ReadonlyArray<Seen>, { condition }: Fault, faults: ReadonlyArray<Fault>) => {
  const own = new Set(faults.map((fault) => fault.condition))
  const roots = items.filter(({ causedBy }) => causedBy === null)
  const others = roots.filter(({ name }) => !own.has(name))
  const rank = ranks.indexOf(roots.find(({ name }) => name === condition)?.severity ?? "")
  const othersCritical = others.filter(({ severity }) => severity === "critical").map(({ name }) => name)
  return {
    isOnTop: rank >= 0 && others.every(({ severity }) => ranks.indexOf(severity) > rank),
    othersCritical: [...new Set(othersCritical)]
  }
}
