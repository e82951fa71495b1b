/**
 * Units of work of one job, from beginning to end: the open ones, and how long after a moment the last of them ended.
 */

interface Unit {
  readonly begunMs: number
  endedMs: number | undefined
}

export interface Ledger {
  /** Once; a second beginning of the same changes nothing. */
  readonly begin: (id: string) => void
  /** A unit that is unknown or has ended stays as it is. */
  readonly end: (id: string, atMs?: number) => void
  readonly ids: () => ReadonlyArray<string>
  readonly done: () => number
  /** Ids of units that began before a moment and have not ended. */
  readonly open: (beforeMs?: number) => ReadonlyArray<string>
  /** From a moment until the last unit that began before `beforeMs` had ended; 0 when none was under way. */
  readonly caughtUpAfterMs: (momentMs: number, beforeMs: number) => number
  /** Of all units that have ended, from beginning to end. */
  readonly slowestMs: () => number
}

export const newLedger = (): Ledger => {
  const units = new Map<string, Unit>()
  return {
    begin: (id) => {
      if (!units.has(id)) units.set(id, { begunMs: Date.now(), endedMs: undefined })
    },
    end: (id, atMs = Date.now()) => {
      const unit = units.get(id)
      if (unit !== undefined) unit.endedMs ??= atMs
    },
    ids: () => [...units.keys()],
    done: () => [...units.values()].filter(({ endedMs }) => endedMs !== undefined).length,
    open: (beforeMs = Number.POSITIVE_INFINITY) =>
      [...units].flatMap(([id, { begunMs, endedMs }]) => (endedMs === undefined && begunMs < beforeMs ? [id] : [])),
    caughtUpAfterMs: (momentMs, beforeMs) =>
      [...units.values()].reduce(
        (latest, { begunMs, endedMs = Number.POSITIVE_INFINITY }) =>
          begunMs < beforeMs ? Math.max(latest, endedMs - momentMs) : latest,
        0
      ),
    slowestMs: () =>
      [...units.values()].reduce((slowest, { begunMs, endedMs = begunMs }) => Math.max(slowest, endedMs - begunMs), 0)
  }
}
