/** Remembers when queues were last seen paused: a project's own, and the one of all. No effects. */
import type { ViewRow } from "#actors"

type Row = Pick<ViewRow, "id" | "state">

export interface PausedQueues {
  readonly look: (projects: ReadonlyArray<Row>, queue: Row | undefined, nowMs: number) => void
  readonly lastPausedMs: (projectId: string | null) => number | null
}

export const makePausedQueues = (): PausedQueues => {
  const projectsMs = new Map<string, number>()
  let allMs: number | null = null
  return {
    look: (projects, queue, nowMs) => {
      if (queue?.state === "Paused") allMs = nowMs
      for (const { id, state } of projects) if (state === "Paused") projectsMs.set(id, nowMs)
    },
    lastPausedMs: (projectId) => {
      const ownMs = projectId === null ? undefined : projectsMs.get(projectId)
      return ownMs === undefined ? allMs : Math.max(ownMs, allMs ?? 0)
    }
  }
}
