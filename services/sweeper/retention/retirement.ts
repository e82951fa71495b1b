/** Items and releases that ended long enough ago to be forgotten, those that ended first before the others. Pure. */
import type { ViewRow } from "#actors"
import { type PlannedCommand, toRelease, toWorkItem } from "../planned-command.ts"

type Ended = Pick<ViewRow, "id" | "sequence" | "deadlinesMs">

export interface RetirementInput {
  readonly workItems: ReadonlyArray<Ended>
  readonly releases: ReadonlyArray<Ended>
  /** What ended no later than that goes. */
  readonly workItemsBeforeMs: number
  readonly releasesBeforeMs: number
}

const endedAtMs = ({ deadlinesMs }: Ended) => deadlinesMs["ended"] ?? Infinity

const longAgo = (rows: ReadonlyArray<Ended>, beforeMs: number) =>
  rows.filter((row) => endedAtMs(row) <= beforeMs).toSorted((left, right) => endedAtMs(left) - endedAtMs(right))

export const retirements = (input: RetirementInput): ReadonlyArray<PlannedCommand> => {
  const { workItemsBeforeMs, releasesBeforeMs } = input
  return [
    ...longAgo(input.workItems, workItemsBeforeMs).map((row) =>
      toWorkItem(row, "retired-item", { _tag: "Retire", endedBeforeMs: workItemsBeforeMs })
    ),
    ...longAgo(input.releases, releasesBeforeMs).map((row) =>
      toRelease(row, "retired-release", { _tag: "Retire", endedBeforeMs: releasesBeforeMs })
    )
  ]
}
