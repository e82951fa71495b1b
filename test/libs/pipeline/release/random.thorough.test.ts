import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ReleaseCommand, type ReleaseFactTag, releaseItemsMax, syncConflictsMax } from "#pipeline/contract"
import { releaseStates } from "#base"
import { release } from "#pipeline"
import { releaseTransitions } from "../../../../libs/pipeline/release/release.ts"
import { diceOf } from "../../../support/random-ssml.ts"
import { entityAtWork } from "../entity-at-work.ts"
import { randomCommand } from "./random-commands.ts"
import { releaseId } from "./release-at-work.ts"

// Kept apart from the code under test: the spec's own table.
const eventOf: Record<ReleaseFactTag, string | null> = {
  Created: "release.created",
  WorkItemAdded: "release.work_item_added",
  WorkItemStood: null,
  Closed: "release.closed",
  FailedWorkItemsFound: "release.has_failed_work_items",
  DeepAuditBegan: "release.in_review",
  AuditIterationCompleted: "release.deep_audit_iteration_complete",
  RemediationDispatched: "release.deep_audit_remediation_dispatched",
  Published: "release.published",
  Failed: "release.failed",
  Reopened: "release.reopened",
  Abandoned: "release.abandoned",
  SyncConflictFound: "release.sync_conflict",
  Retired: null
}

const lifeOf = (seed: number) => {
  const dice = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
  const entity = entityAtWork(release, ReleaseCommand, releaseId)
  for (let step = 0; step < 80; step++) {
    entity.passes(dice.below(30_000))
    entity.tries(randomCommand(dice, entity.state()))
  }
  return entity
}

describe("a random history of a release", () => {
  const lives = (name: string, look: (life: ReturnType<typeof lifeOf>) => void) =>
    it.prop(name, [Schema.Int], ([seed]) => look(lifeOf(seed)), { arbitrary: { runs: 8 } })

  lives("leads from state to state only as the table lists", ({ steps }) => {
    for (const { command, before, record } of steps) {
      if (command._tag === "Create" || before === null) continue
      assert.include(releaseTransitions[before.state][command._tag] ?? [], record.state?.state)
    }
  })

  lives("tells by its event of every fact that has one, and of nothing else", ({ steps }) => {
    for (const { record } of steps) {
      const told = record.facts.map(({ _tag }) => eventOf[_tag]).filter((event) => event !== null)
      assert.deepStrictEqual(
        record.events.map(({ event }) => event),
        told
      )
    }
  })

  lives("tells of no change of state but by that state's event", ({ steps }) => {
    const entered: Record<string, string> = Object.fromEntries(
      releaseStates.map((state) => [state, `release.${state}`])
    )
    for (const { before, record } of steps) {
      const to = record.state?.state ?? "open"
      if (before === null || before.state === to) continue
      const event = to === "open" ? "release.reopened" : entered[to]
      assert.include(
        record.events.map(({ event }) => event),
        event
      )
    }
  })

  lives("is the same when its facts are replayed, and stays within its bounds", (life) => {
    assert.deepStrictEqual(life.replayed(), life.state())
    for (const { record } of life.steps) {
      assert.isAtMost(record.state?.items.length ?? 0, releaseItemsMax)
      assert.isAtMost(record.state?.syncConflicts.length ?? 0, syncConflictsMax)
    }
  })

  it("visits every state", () => {
    const seen = new Set<string>()
    for (let seed = 1; seed < 60 && seen.size < releaseStates.length; seed++) {
      for (const { record } of lifeOf(seed).steps) seen.add(record.state?.state ?? "open")
    }
    assert.sameMembers([...seen], [...releaseStates])
  })
})
