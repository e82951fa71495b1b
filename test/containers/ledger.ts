/** Units of work of one job, from when they are begun to when they are done: what is open, and how long after a moment the last of it ended. */

interface Unit {
  readonly begunMs: number
  endedMs: number | undefined
}

export interface Ledger {
  /** Once; a second beginning of the same changes nothing. */
  readonly begin: (id: string) => void
  /** A unit that nobody knows, or that has ended, is left as it is. */
  readonly end: (id: string, atMs?: number) => void
  readonly ids: () => ReadonlyArray<string>
  readonly done: () => number
  /** Ids of what was begun before a moment and has not ended. */
  readonly open: (beforeMs?: number) => ReadonlyArray<string>
  /** From a moment until the last of what was begun before `beforeMs` had ended; 0 when nothing was on its way. */
  readonly caughtUpAfterMs: (momentMs: number, beforeMs: number) => number
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
      )
  }
}
