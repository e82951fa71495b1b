import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { type ActorRecord, decideRecord, factsMax, type ActorState } from "#actors"
import { decodeEnvelope, findEvent, workItemStates } from "#base"
import { type WorkItemCommand, WorkItemFact, type WorkItemState } from "#pipeline/contract"
import { workItem } from "#pipeline"
import { transitions, whenLeftBehind } from "../../../../libs/pipeline/work-item/states.ts"
import { type Dice, diceOf } from "../../../support/random-ssml.ts"
import { backFacts, eventsOf } from "./fact-events.ts"
import { itemId, startMs } from "./item-at-work.ts"
import { randomCommand, randomCreation } from "./random-commands.ts"

const stepsMax = 100
const stateCharactersMax = 65_536
const ended = ["Done", "Failed", "Cancelled", "NoActionRequired", "AuditFailed"].concat(
  "MergeConflictResolutionFailed",
  "AbandonedAfterRecoveryAttempts"
)
const decodeState = Schema.decodeUnknownSync(workItem.state, { errors: "all" })
const decodeFacts = Schema.decodeUnknownSync(Schema.Array(WorkItemFact), { errors: "all" })

interface Step {
  readonly command: WorkItemCommand
  readonly before: WorkItemState
  readonly record: ActorRecord<WorkItemState | null, WorkItemFact>
  readonly after: WorkItemState
}

/** All that was decided of an item in a hundred random commands. */
const lifeOf = (dice: Dice): ReadonlyArray<Step> => {
  let held: ActorState<WorkItemState | null> = { state: null, recentCommands: [] }
  let atMs = startMs
  const steps: Array<Step> = []
  // Where nothing has gone on for so long, nothing will.
  for (let step = 0, idle = 0; step < stepsMax && idle < 8; step++, idle++) {
    const before = held.state
    const command = before === null ? randomCreation(dice) : randomCommand(dice, before, step)
    atMs += 1 + dice.below(20_000)
    const decided = decideRecord(workItem, held, command, { id: itemId, commandId: `c${step}`, atMs })
    if (Result.isFailure(decided)) {
      assert.strictEqual(decided.failure._tag, "Refusal")
      continue
    }
    const record = decided.success
    if (record === undefined) continue
    idle = 0
    held = record
    if (before !== null && record.state !== null) steps.push({ command, before, record, after: record.state })
    if (record.isRetired) break
  }
  return steps
}

// Dice of small seeds begin much alike.
const spread = (seed: number) => diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
const inputOf = (command: WorkItemCommand) => (command._tag === "Report" ? command.report.kind : command._tag)
const eventOfState = (state: string) => `work_item.${state.replace(/(?<=.)[A-Z]/gu, "_$&").toLowerCase()}`

/** One fact after another, with the states before and after each. */
const factsOf = ({ before, record: { facts, atMs, commandId } }: Step) => {
  const context = { id: itemId, commandId, atMs }
  let state: WorkItemState = before
  return facts.map((fact) => {
    const from = state
    state = workItem.evolve(state, fact, context) ?? state
    return { fact, from, to: state, events: workItem.toEvents(state, fact, context) }
  })
}

describe("a random history of a work item", () => {
  const seen = new Set<string>()
  const lives = (name: string, look: (life: ReadonlyArray<Step>) => void) =>
    it.prop(name, [Schema.Int], ([seed]) => look(lifeOf(spread(seed))), { arbitrary: { runs: 40 } })

  lives("leads from state to state only as the table lists", (life) => {
    for (const { command, before, record, after } of life) {
      const input = inputOf(command)
      // A report's cost counts wherever the item is, and moves it nowhere.
      if (record.facts.every(({ _tag }) => _tag === "UsageAdded")) {
        assert.strictEqual(after.state, before.state, input)
        continue
      }
      const next = input === "Create" ? undefined : transitions[before.state][input]
      const more = before.staleHeads?.isAwaited === true ? whenLeftBehind : []
      assert.include([...(next ?? []), ...more], after.state, `${before.state} ${input}`)
      seen.add(after.state)
    }
  })

  it("visits every state", () => {
    for (let seed = 1; seed < 200 && seen.size < workItemStates.length; seed++) {
      for (const { after } of lifeOf(spread(seed))) seen.add(after.state)
    }
    assert.sameMembers([...seen], [...workItemStates])
  })

  lives("tells of every transition by its event, and nothing that no fact stands for", (life) => {
    for (const step of life) {
      for (const { fact, from, to, events } of factsOf(step)) {
        const names = events.map(({ event }) => event)
        assert.deepStrictEqual(names, eventsOf(fact), fact._tag)
        const own = eventOfState(to.state)
        if (from.state === to.state || backFacts.has(fact._tag) || findEvent(own) === undefined) continue
        assert.include(names, own)
      }
    }
  })

  lives("tells only what receivers can read, with the item as it then was", (life) => {
    for (const { record, after } of life) {
      for (const event of record.events) {
        const decoded = Result.getOrThrow(decodeEnvelope(event))
        assert.deepStrictEqual([decoded.known, decoded.unknownFields], [true, []], event.event)
        assert.strictEqual(event.usage == null, event.usageTotal == null)
      }
      const told = record.events.at(-1)?.workItem
      if (told != null) assert.strictEqual(told.state, after.state)
      assert.isAtMost(record.facts.length, factsMax)
    }
  })

  lives("never counts backwards", (life) => {
    for (const { before, after } of life) {
      const counts = ["run", "upstreamPushAttempts", "conflictReworks", "recoveryAttempts", "quotaRetries"] as const
      const more = ["transientRetries", "terminalFailures", "suggestions", "recheckedIteration"] as const
      for (const count of [...counts, ...more]) assert.isAtLeast(after[count], before[count], count)
      if (after.run === before.run) assert.isAtLeast(after.auditedIterations, before.auditedIterations)
      assert.isAtLeast(after.usageTotal?.costMicroUsd ?? 0, before.usageTotal?.costMicroUsd ?? 0)
      assert.isAtLeast(after.questionIds.length, before.questionIds.length)
      assert.isAtLeast(after.updatedAtMs, before.updatedAtMs)
    }
  })

  lives("keeps within its caps", (life) => {
    for (const { record, before } of life) {
      const { settings } = before
      for (const fact of record.facts) {
        if (fact._tag === "Recovered") assert.isAtMost(fact.recoveryAttempt, settings.maxRecoveryAttempts + 1)
        if (fact._tag === "ConflictFound") assert.isBelow(before.conflictReworks, settings.maxReworkAttempts)
        if (fact._tag === "WaitingForRetry") assert.isAtMost(fact.attempts, settings.maxTransientRetries)
        if (fact._tag === "WaitingForQuota") assert.isBelow(before.quotaRetries, settings.maxQuotaRetries)
        if (fact._tag === "ReworkBegan") assert.isBelow(before.auditedIterations + 1, settings.maxAuditIterations)
      }
    }
  })

  lives("is the same when its facts are replayed, and when it is stored and read", (life) => {
    for (const step of life) {
      assert.deepStrictEqual(factsOf(step).at(-1)?.to, step.after)
      const text = JSON.stringify({ facts: step.record.facts, state: step.after })
      const stored = JSON.parse(text)
      assert.deepStrictEqual(decodeState(stored.state), step.after)
      assert.deepStrictEqual(decodeFacts(stored.facts), step.record.facts)
      assert.isBelow(JSON.stringify(step.after).length, stateCharactersMax)
    }
  })

  lives("has a runner only in a phase's own state, an end only when it ended, a question only when it asks", (life) => {
    for (const { after } of life) {
      assert.strictEqual(after.endedAtMs !== null, ended.includes(after.state), after.state)
      if (after.state === "NeedsOperatorInput") assert.isNotEmpty(after.openQuestions)
      else assert.isEmpty(after.openQuestions)
      assert.strictEqual(after.failureKind !== null, after.state === "Failed")
      assert.strictEqual(after.retryAtMs !== null, after.state === "WaitingForTransientRetry")
      if (after.dispatch === null) continue
      assert.strictEqual(after.dispatch.phase, after.phase)
      assert.strictEqual(after.dispatch.dispatchId, after.lastDispatchId)
      assert.isDefined(transitions[after.state].progress)
    }
  })
})
