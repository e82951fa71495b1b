/**
 * The release sweep brings releases up to the state of their linked items. The follow-ups of the log inform a release
 * when an item ends or returns; this sweep informs releases whose counts do not match their items again, item by item.
 * A repetition changes nothing.
 */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import type { ReleaseCommandOf, WorkItemStateName } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { CommandClient, findingsOf, type PlannedCommand } from "./command-client.ts"
import { readReleases, readWorkItems, type SeenRelease, type SeenWorkItem } from "./seen-entities.ts"
import type { Sweep } from "./sweeps.ts"

// The follow-ups of the log take moments; a minute later an item was overlooked.
const patienceMsMax = 60_000

export const releaseSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Views> = Effect.gen(
  function* () {
    const { Sweeper } = yield* Configuration
    const client = yield* CommandClient
    const views = yield* Views
    const everyMs = Sweeper.ReleaseSeconds * 1_000

    const sweep = Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const releases = readReleases(
        views.list({ entity: "release", states: ["open", "closed", "in_review", "failed"] })
      )
      const known = new Set(releases.map(({ id }) => id))
      const linked = views.list({ entity: "workitem" }).filter(({ summary }) => isOf(known, summary["releaseId"]))
      const patienceMs = Math.min(patienceMsMax, everyMs)
      const commands = untoldEnds({ releases, items: readWorkItems(linked), nowMs, patienceMs })
      return findingsOf(yield* client.send("releases", commands))
    })
    return { name: "releases", everyMs, begin: Effect.succeed(sweep) }
  }
)

const isOf = (known: ReadonlySet<string>, releaseId: unknown) => typeof releaseId === "string" && known.has(releaseId)

interface ReleasesInput {
  readonly releases: ReadonlyArray<SeenRelease>
  readonly items: ReadonlyArray<SeenWorkItem>
  readonly nowMs: number
  /** How long a changed item is left to the follow-ups of the log. */
  readonly patienceMs: number
}

type Outcome = ReleaseCommandOf<"EndWorkItem">["outcome"]

const outcomes: Readonly<Partial<Record<WorkItemStateName, Outcome>>> = {
  Done: "done",
  NoActionRequired: "done",
  Cancelled: "cancelled",
  Failed: "failed",
  AuditFailed: "failed",
  MergeConflictResolutionFailed: "failed",
  AbandonedAfterRecoveryAttempts: "failed"
}

const outcomeOf = ({ state }: SeenWorkItem): Outcome | undefined =>
  (outcomes as Readonly<Record<string, Outcome | undefined>>)[state]

/** Linked items whose release does not know that they ended or returned. Pure. */
export const untoldEnds = ({ releases, items, nowMs, patienceMs }: ReleasesInput): ReadonlyArray<PlannedCommand> => {
  const byRelease = Map.groupBy(items, ({ summary }) => summary.releaseId)
  return releases.flatMap((release) => {
    const linked = byRelease.get(release.id) ?? []
    if (fits(release, linked)) return []
    return linked.filter(({ updatedAtMs }) => nowMs - updatedAtMs >= patienceMs).map((item) => report(release, item))
  })
}

/** Purged items are not in the views: a release can know of more that ended, never of fewer. */
const fits = ({ summary }: SeenRelease, linked: ReadonlyArray<SeenWorkItem>) => {
  const count = (outcome: Outcome | undefined) => linked.filter((item) => outcomeOf(item) === outcome).length
  return (
    summary.openCount === count(undefined) &&
    summary.doneCount >= count("done") &&
    summary.failedCount >= count("failed") &&
    summary.cancelledCount >= count("cancelled")
  )
}

const report = (release: SeenRelease, item: SeenWorkItem): PlannedCommand => {
  const outcome = outcomeOf(item)
  return {
    entity: "release",
    id: release.id,
    // The id derives from the item's record, because one release has many items.
    commandId: `sweep.linked-item.${item.sequence}`,
    command:
      outcome === undefined
        ? { _tag: "ReturnWorkItem", workItemId: item.id }
        : { _tag: "EndWorkItem", workItemId: item.id, outcome },
    finding: "linked-item"
  }
}
