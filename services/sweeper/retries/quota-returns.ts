/**
 * When the quotas of agents came back, as one look after another sees it. Before there was a second look, an agent
 * that has quota counts as back since its last change: what was parked before that may try. Pure.
 */
import type { SeenAgent } from "../view-summaries.ts"

export interface QuotaReturns {
  /** Ids of agents without quota at the last look; undefined before the first. */
  readonly exhausted: ReadonlySet<string> | undefined
  /** By agent kind. */
  readonly backAtMs: ReadonlyMap<string, number>
}

export const noReturns: QuotaReturns = { exhausted: undefined, backAtMs: new Map() }

export const seeAgents = (before: QuotaReturns, agents: ReadonlyArray<SeenAgent>): QuotaReturns => {
  const backAtMs = new Map(before.backAtMs)
  for (const { id, updatedAtMs, summary } of agents) {
    if (summary.isQuotaExhausted) continue
    // Of a change that was not seen, such as a pause, nothing follows.
    const isBack = before.exhausted === undefined || before.exhausted.has(id)
    if (isBack) backAtMs.set(summary.agentKind, Math.max(updatedAtMs, backAtMs.get(summary.agentKind) ?? 0))
  }
  const exhausted = new Set(agents.filter(({ summary }) => summary.isQuotaExhausted).map(({ id }) => id))
  return { exhausted, backAtMs }
}

export const lastReturn = ({ backAtMs }: QuotaReturns, agentKinds: ReadonlyArray<string>): number | null => {
  const times = agentKinds.flatMap((kind) => backAtMs.get(kind) ?? [])
  return times.length === 0 ? null : Math.max(...times)
}
