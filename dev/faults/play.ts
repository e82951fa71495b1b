/** Plays faults that do not touch each other at the same time, and notes how the console sees them begin and end. */
import type { Fault, Mend } from "./fault.ts"
import type { FaultFleet } from "./fleet.ts"

export interface Played {
  readonly condition: string
  /** Null: not within its time. */
  readonly seenAfterSeconds: number | null
  readonly goneAfterSeconds: number | null
  /** Worse conditions that are not of these faults, by name; its own where it is not shown as a cause. */
  readonly above: ReadonlyArray<string>
  /** Critical conditions that no other explains, and that none of the faults makes true. */
  readonly othersCritical: ReadonlyArray<string>
  /** Effects of the fault that are not shown below a cause. */
  readonly effectsUnseen: ReadonlyArray<string>
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
    const own = conditionsOfFault(fault)
    const seconds = await secondsUntil(fleet, own, { isWanted: true, among: rootsOf, withinMs: fault.slow?.seenMs })
    await secondsUntil(fleet, fault.effects ?? [], { isWanted: true, among: effectsOf, withinMs: undefined })
    return seconds
  }
  let played: ReadonlyArray<Omit<Played, "goneAfterSeconds">> = []
  try {
    const seen = await allOf(faults.map(begin))
    const now = await conditionsOf(fleet)
    played = faults.map((fault, index) => ({
      condition: fault.condition,
      seenAfterSeconds: seen[index] ?? null,
      ...standingOf(now.items, fault, faults)
    }))
    await whileSeen(now)
  } finally {
    await allOf(mends.map((mend) => mend()))
  }
  const gone = await Promise.all(
    faults.map((fault) =>
      secondsUntil(fleet, conditionsOfFault(fault), { isWanted: false, among: anyOf, withinMs: fault.slow?.goneMs })
    )
  )
  return played.map((one, index) => ({ ...one, goneAfterSeconds: gone[index] ?? null }))
}

/** None is left running where one fails. */
const allOf = async <A>(running: ReadonlyArray<Promise<A>>) => {
  await Promise.allSettled(running)
  return Promise.all(running)
}

/** Those that are to be seen as causes. */
export const conditionsOfFault = ({ condition, also = [] }: Fault) => [condition, ...also]

const anyOf = ({ items }: Conditions) => items
const effectsOf = ({ items }: Conditions) => items.filter(({ causedBy }) => causedBy !== null)
const rootsOf = ({ items }: Conditions) => items.filter(({ causedBy }) => causedBy === null)

interface Wanted {
  readonly isWanted: boolean
  readonly among: (conditions: Conditions) => ReadonlyArray<Seen>
  readonly withinMs: number | undefined
}

const secondsUntil = async (
  fleet: FaultFleet,
  wanted: ReadonlyArray<string>,
  { isWanted, among, withinMs = withinMsUsual }: Wanted
) => {
  const beganMs = performance.now()
  for (;;) {
    // While the broker hangs the console may not answer.
    const found = await conditionsOf(fleet).catch(() => undefined)
    const waitedMs = performance.now() - beganMs
    const names = new Set(found === undefined ? [] : among(found).map(({ name }) => name))
    if (found !== undefined && wanted.every((name) => names.has(name) === isWanted)) return waitedMs / 1_000
    if (waitedMs > withinMs) return null
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
}

const ranks = ["critical", "warning", "info"]

/** Pure. */
export const standingOf = (items: ReadonlyArray<Seen>, fault: Fault, faults: ReadonlyArray<Fault>) => {
  const { condition, effects = [] } = fault
  const own = new Set(faults.flatMap(conditionsOfFault))
  const roots = items.filter(({ causedBy }) => causedBy === null)
  const others = roots.filter(({ name }) => !own.has(name))
  const rank = ranks.indexOf(roots.find(({ name }) => name === condition)?.severity ?? "")
  const othersCritical = others.filter(({ severity }) => severity === "critical").map(({ name }) => name)
  return {
    above:
      rank === -1
        ? [condition]
        : others.filter(({ severity }) => ranks.indexOf(severity) < rank).map(({ name }) => name),
    othersCritical: [...new Set(othersCritical)],
    effectsUnseen: effects.filter((effect) => !items.some(({ name, causedBy }) => name === effect && causedBy !== null))
  }
}
