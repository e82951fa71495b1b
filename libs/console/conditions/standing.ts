/**
 * The conditions that stand: what is seen long enough to be more than a restart, since when, and what explains it
 * away. Pure.
 */
import type { Condition, Severity } from "#base/condition"
import { conditions } from "./conditions.ts"
import { type Observed, type Sighting, sightingsOf } from "./sightings.ts"

export interface Standing extends Sighting {
  /** Of the condition and its labels. */
  readonly id: string
  readonly condition: Condition
  readonly sinceMs: number
}

/** What was seen in the last look, by id, also what has not been seen for long enough. */
export type Seen = ReadonlyMap<string, Standing>

// A process that restarts is away for less; with a look every five seconds it is shown within fifteen.
const restartMs = 10_000

export const idOf = ({ name }: Condition, labels: Sighting["labels"]) => {
  const parts = Object.entries(labels).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return [name, ...parts.map(([label, value]) => `${label}=${value}`)].join(" ")
}

/** The next look. `sinceOf`: since when it stood before this process began to look, where that is known. */
export const look = (
  before: Seen,
  observed: Observed,
  sinceOf: (id: string) => number | undefined = () => undefined
): Seen =>
  new Map(
    conditions.flatMap((condition) =>
      sightingsOf(condition.seen, observed).map((sighting) => {
        const id = idOf(condition, sighting.labels)
        const sinceMs = Math.min(before.get(id)?.sinceMs ?? observed.nowMs, sinceOf(id) ?? observed.nowMs)
        return [id, { id, condition, ...sighting, sinceMs }] as const
      })
    )
  )

export const isStanding = ({ condition, sinceMs }: Standing, nowMs: number) =>
  condition.after === "0m" || nowMs - sinceMs >= restartMs

export interface Explained extends Standing {
  /** The id of the standing condition that explains it away; null of one that has to be mended itself. */
  readonly causedBy: string | null
}

const ranks: Readonly<Record<Severity, number>> = { critical: 0, warning: 1, info: 2 }

/** The worst first, the oldest first among equals, and each cause before what it causes. */
export const explained = (standing: ReadonlyArray<Standing>): ReadonlyArray<Explained> => {
  const ordered = standing.toSorted(
    (left, right) =>
      ranks[left.condition.severity] - ranks[right.condition.severity] ||
      left.sinceMs - right.sinceMs ||
      (left.id < right.id ? -1 : 1)
  )
  const all = ordered.map((one) => ({ ...one, causedBy: rootOf(one, ordered)?.id ?? null }))
  const groups = all
    .filter(({ causedBy }) => causedBy === null)
    .map((cause) => [cause, ...all.filter(({ causedBy }) => causedBy === cause.id)])
  // What causes something worse than itself is as urgent.
  const rankOf = (group: ReadonlyArray<Explained>) =>
    Math.min(...group.map(({ condition }) => ranks[condition.severity]))
  return groups.toSorted((left, right) => rankOf(left) - rankOf(right)).flat()
}

/** Causes have causes: the last of them. The table has no circles. */
const rootOf = (one: Standing, all: ReadonlyArray<Standing>): Standing | undefined => {
  const cause = all.find(
    (other) => one.condition.causedBy.includes(other.condition.name) && isAbout(other.labels, one.labels)
  )
  return cause === undefined ? undefined : (rootOf(cause, all) ?? cause)
}

// A process is no reason: another replica's fault can be the cause of this one's.
const ofPlace = new Set(["pod", "role", "use", "stream"])
export const isOfPlace = (label: string) => ofPlace.has(label)

/** Whether two conditions can be about the same thing: a chain's does not explain that of another chain. */
const isAbout = (cause: Sighting["labels"], effect: Sighting["labels"]) =>
  Object.entries(cause).every(
    ([label, value]) => isOfPlace(label) || effect[label] === undefined || effect[label] === value
  )

/** A sentence of the table with its labels and figure. */
export const told = (text: string, { labels, value }: Sighting) =>
  text.replaceAll(/\{(\w+)(?::(\w+))?\}/gu, (_, label: string, unit: string | undefined) =>
    label === "value" ? figureOf(value, unit) : (labels[label] ?? label)
  )

const figureOf = (value: number, unit: string | undefined) => {
  if (unit === "percent") return `${figure(value * 100)} %`
  if (unit !== "duration") return figure(value)
  if (value < 1) return `${figure(value * 1_000)} ms`
  if (value < 120) return `${figure(value)} s`
  return value < 7_200 ? `${figure(value / 60)} min` : `${figure(value / 3_600)} h`
}

const figure = (value: number) => String(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
