/**
 * What was spent, by project and hour, as it is counted in memory. Every record counts once: a project knows the last
 * record that is in its sums, and passes over what is not later. Hours beyond the window are let go. No effects.
 */
import { hourOf, type ProjectSpend, spendHoursWhole, spentMicroUsd } from "#contracts"
import type { Spent } from "./usage.ts"

interface Sums {
  position: number
  readonly hours: Map<number, number>
}

export interface SpendBook {
  /** Counts what one record of LOG says; one that is counted already changes nothing. */
  readonly add: (sequence: number, spent: ReadonlyArray<Spent>) => void
  readonly load: (stored: ProjectSpend) => void
  /** Of the window that ends now, in micro-USD. */
  readonly spentBy: (projectId: string, nowMs: number) => number
  /** Lets go of hours before the window. */
  readonly prune: (nowMs: number) => void
  /** Projects whose sums changed since they were last taken; without hours: nothing is left of it. */
  readonly takeChanged: () => ReadonlyArray<ProjectSpend>
}

export const makeSpendBook = (): SpendBook => {
  const projects = new Map<string, Sums>()
  const changed = new Set<string>()

  const sumsOf = (projectId: string) => {
    const known = projects.get(projectId) ?? { position: 0, hours: new Map<number, number>() }
    projects.set(projectId, known)
    return known
  }
  const addTo = (sums: Sums, { atMs, costMicroUsd }: Spent) => {
    const hour = hourOf(atMs)
    sums.hours.set(hour, Math.min((sums.hours.get(hour) ?? 0) + costMicroUsd, Number.MAX_SAFE_INTEGER))
  }
  return {
    add: (sequence, spent) => {
      // One record may say several things of one project: its position moves when all are counted.
      const open = spent.filter(({ projectId }) => sequence > sumsOf(projectId).position)
      for (const one of open) addTo(sumsOf(one.projectId), one)
      for (const { projectId } of open) {
        sumsOf(projectId).position = sequence
        changed.add(projectId)
      }
    },
    load: ({ projectId, position, hours }) => {
      projects.set(projectId, { position, hours: new Map(hours) })
      changed.delete(projectId)
    },
    spentBy: (projectId, nowMs) => spentMicroUsd(projects.get(projectId)?.hours ?? [], nowMs),
    prune: (nowMs) => {
      const first = hourOf(nowMs) - spendHoursWhole
      for (const [projectId, { hours }] of projects) {
        for (const hour of hours.keys()) {
          if (hour < first && hours.delete(hour)) changed.add(projectId)
        }
      }
    },
    takeChanged: () => {
      const taken = [...changed].map((projectId): ProjectSpend => {
        const { position, hours } = sumsOf(projectId)
        return { _tag: "ProjectSpend", projectId, position, hours: [...hours] }
      })
      changed.clear()
      return taken
    }
  }
}
