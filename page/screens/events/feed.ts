/** The lines of the live list: the newest first, each event once, and no more than a reader can use. Pure. */
import type { Answer } from "../../api/client.ts"

export type EventRow = Answer<"GET", "/events">["items"][number] & { readonly envelope?: string | null }

/** Who wants more reads older pages: each line that stands costs layout and paint whenever one comes. */
export const linesMax = 200
/** Who reads further back than this finds it sooner by a filter. */
export const olderMax = 2_000

/** Puts what came, oldest first, before the lines there are. What comes again stands for what was there. */
export const merged = (lines: ReadonlyArray<EventRow>, batch: ReadonlyArray<EventRow>): ReadonlyArray<EventRow> => {
  const newest = lines[0]?.sequence ?? 0
  if (batch.every(({ sequence }) => sequence > newest)) return [...batch.toReversed(), ...lines].slice(0, linesMax)
  const bySequence = new Map([...lines, ...batch].map((line) => [line.sequence, line]))
  return [...bySequence.values()].toSorted((left, right) => right.sequence - left.sequence).slice(0, linesMax)
}

/** Lines, and how many that came are no longer among them. */
export interface Kept {
  readonly lines: ReadonlyArray<EventRow>
  readonly passedCount: number
}

/** Takes what came, oldest first. `skippedCount`: what came too fast even to be read. */
export const taken = ({ lines, passedCount }: Kept, batch: ReadonlyArray<EventRow>, skippedCount = 0): Kept => {
  const before = lines.slice(0, linesMax)
  const known = new Set(before.map(({ sequence }) => sequence))
  const next = merged(before, batch)
  const freshCount = batch.filter(({ sequence }) => !known.has(sequence)).length
  return { lines: next, passedCount: passedCount + skippedCount + before.length + freshCount - next.length }
}

/** A list that may be held while events come. */
export interface LiveList {
  readonly isPaused: boolean
  readonly kept: Kept
  /** What came since it was paused. */
  readonly waiting: Kept
}

const nothing: Kept = { lines: [], passedCount: 0 }
export const emptyList: LiveList = { isPaused: false, kept: nothing, waiting: nothing }

/** What came goes into the list, or waits for it. */
export const received = (list: LiveList, batch: ReadonlyArray<EventRow>, skippedCount: number): LiveList =>
  list.isPaused
    ? { ...list, waiting: taken(list.waiting, batch, skippedCount) }
    : { ...list, kept: taken(list.kept, batch, skippedCount) }

/** What waited is in the list, and nothing waits. */
export const resumed = ({ kept, waiting: { lines, passedCount } }: LiveList): LiveList => ({
  isPaused: false,
  kept: taken(kept, lines.toReversed(), passedCount),
  waiting: nothing
})

/** Puts an older page after the lines there are, each once. */
export const withOlder = (lines: ReadonlyArray<EventRow>, page: ReadonlyArray<EventRow>): ReadonlyArray<EventRow> => {
  const oldest = lines.at(-1)?.sequence ?? Number.POSITIVE_INFINITY
  return [...lines, ...page.filter(({ sequence }) => sequence < oldest)].slice(0, linesMax + olderMax)
}

export const lengthened = ({ kept, ...rest }: LiveList, page: ReadonlyArray<EventRow>): LiveList => ({
  ...rest,
  kept: { ...kept, lines: withOlder(kept.lines, page) }
})

/** More than this between the ends of a page is not worth another look for the sake of its envelopes. */
const againMax = 1_000

/**
 * After which event the live stream begins, so that no event is between it and a page of the list. `through`: the last
 * event before the page was read, of those that the list leaves out too.
 */
export const followedFrom = (page: ReadonlyArray<EventRow>, through: number): number => {
  const oldest = page.at(-1)?.sequence
  return oldest !== undefined && through - oldest < againMax ? oldest - 1 : through
}
