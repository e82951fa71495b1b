/**
 * Pull requests whose base has moved on without them. Each head makes one event in each run of a sweeping process,
 * however many processes look at once. The project remembers the heads up to a bound; beyond it the oldest may be
 * reported again, which receivers must bear anyway.
 */
import { type ProjectFactOf, type ProjectState, staleBaseProcessesMax, staleBasesMax } from "#contracts"
import { type Concern, decided, nothing } from "./concern.ts"

export const staleBasesConcern = {
  commands: {
    ReportStaleBase: ({ staleBases }, command) =>
      toldBy(staleBases, command.epoch).includes(keyOf(command))
        ? nothing
        : decided({ ...command, _tag: "StaleBaseFound" })
  },
  evolve: {
    StaleBaseFound: ({ staleBases }, fact) => {
      const told = [...toldBy(staleBases, fact.epoch), keyOf(fact)].slice(-staleBasesMax)
      return {
        staleBases: {
          epoch: fact.epoch,
          told,
          others: withinRoom(othersThan(staleBases, fact.epoch), staleBasesMax - told.length)
        }
      }
    }
  }
} satisfies Concern

type Found = Pick<ProjectFactOf<"StaleBaseFound">, "pullRequestNumber" | "headSha">
type StaleBases = ProjectState["staleBases"]
type Others = NonNullable<StaleBases["others"]>

const keyOf = ({ pullRequestNumber, headSha }: Found) => `${pullRequestNumber}:${headSha}`

const toldBy = ({ epoch, told, others = [] }: StaleBases, process: string): ReadonlyArray<string> =>
  epoch === process ? told : (others.find((other) => other.epoch === process)?.told ?? [])

/** The heads that other processes reported; the process that reported last comes first. */
const othersThan = ({ epoch, told, others = [] }: StaleBases, process: string): Others =>
  [...(epoch === null ? [] : [{ epoch, told }]), ...others].filter((other) => other.epoch !== process)

/** The newest heads that fit. A process that is gone loses its heads once enough others report after it. */
const withinRoom = (others: Others, room: number): Others => {
  let left = room
  return others.slice(0, staleBaseProcessesMax).flatMap(({ epoch, told }) => {
    const kept = told.slice(Math.max(0, told.length - left))
    left -= kept.length
    return kept.length === 0 ? [] : [{ epoch, told: kept }]
  })
}
