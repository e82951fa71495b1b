import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decideRecord } from "#actors"
import { type WorkItemCommand, type WorkItemReportKind, workItemReportKinds } from "#pipeline/contract"
import { workItemStates } from "#base"
import { workItem } from "#pipeline"
import { transitions } from "../../../../libs/pipeline/work-item/states.ts"
import { checkId, freshId, itemId, type ItemAtWork, readyFor } from "./item-at-work.ts"
import { type PlainTag, plainTags, sampleCommand, sampleReport } from "./samples.ts"
import { itemIn } from "./states.ts"

type Input = PlainTag | WorkItemReportKind
const inputs: ReadonlyArray<Input> = [...plainTags, ...workItemReportKinds]

/** The input as the item's own runner would send it. */
const inputFor = (item: ItemAtWork, input: Input): WorkItemCommand => {
  const { phase, settings, lastDispatchId } = item.state()
  const tag = plainTags.find((plain) => plain === input)
  if (tag !== undefined) return sampleCommand(tag, phase ?? "work", settings)
  const report = sampleReport(input as WorkItemReportKind)
  const dispatched = report.kind === "recheck-completed" ? report : { ...report, dispatchId: lastDispatchId ?? "d" }
  return { _tag: "Report", report: dispatched, jitter: 0, freshWorkItemId: freshId }
}

const decide = (item: ItemAtWork, command: WorkItemCommand) =>
  decideRecord(workItem, item.held(), command, { id: itemId, commandId: "c", atMs: item.nowMs() + 60_000 })

/** `refused`, `nothing`, or the state it led to. */
const answerOf = (item: ItemAtWork, input: Input): string => {
  const decided = decide(item, inputFor(item, input))
  if (Result.isSuccess(decided)) return decided.success?.state?.state ?? "nothing"
  assert.strictEqual(decided.failure._tag, "Refusal")
  const { state } = item.state()
  assert.match(decided.failure.message, new RegExp(`^.+ \\(${state}\\)$`, "u"), `${state} ${input}`)
  return "refused"
}

describe("the table of transitions", () => {
  it("answers every input in every state, and leads only to states that it lists", () => {
    let pairs = 0
    for (const state of workItemStates) {
      const item = itemIn[state]()
      assert.strictEqual(item.state().state, state)
      for (const input of inputs) {
        const listed = transitions[state][input]
        const answer = answerOf(item, input)
        const isReport = !plainTags.some((plain) => plain === input)
        const isLate = isReport && input !== "recheck-completed" && item.state().dispatch === null
        if (listed === undefined) assert.strictEqual(answer, isLate && answer === "nothing" ? answer : "refused")
        else if (listed.length === 0) assert.strictEqual(answer, "nothing", `${state} ${input}`)
        else assert.include([...listed, "refused", "nothing"], answer, `${state} ${input}`)
        pairs += 1
      }
    }
    assert.strictEqual(pairs, 22 * 34)
  })

  it("allows an ended item only the declared inputs", () => {
    const declared = {
      Done: ["Retire"],
      Failed: ["Delegate", "AgentRestoreRequeue", "Retire"],
      Cancelled: ["Resume", "Retire"],
      NoActionRequired: ["Retire"],
      AuditFailed: ["Delegate", "Retire"],
      MergeConflictResolutionFailed: ["Cancel", "Retire"],
      AbandonedAfterRecoveryAttempts: ["Retire"]
    } as const
    for (const [state, taken] of Object.entries(declared)) {
      const item = itemIn[state as keyof typeof declared]()
      const answers = inputs.filter((input) => !["refused", "nothing"].includes(answerOf(item, input)))
      assert.sameMembers(answers, [...taken], state)
    }
  })

  it("allows cancellation from every unfinished state, and from a failed resolution", () => {
    const refused = workItemStates.filter((state) => answerOf(itemIn[state](), "Cancel") === "refused")
    assert.sameMembers(refused, [
      "Done",
      "Failed",
      "Cancelled",
      "NoActionRequired",
      "AuditFailed",
      "AbandonedAfterRecoveryAttempts"
    ])
  })

  it("lets a runner take an item only in a waiting state", () => {
    for (const phase of ["work", "audit", "rework", "merge", "upstream", "conflict-rework", "delegation"] as const) {
      assert.isFalse(["refused", "nothing"].includes(answerOf(readyFor(phase), "Dispatch")), phase)
    }
    for (const state of workItemStates) {
      const item = itemIn[state]()
      if (item.state().dispatch === null && ["Queued", "WorkComplete", "AuditPassed", "Merged"].includes(state))
        continue
      assert.strictEqual(answerOf(item, "Dispatch"), "refused", state)
    }
  })

  it("allows an item that does not exist only its creation", () => {
    const held = { state: null, recentCommands: [] }
    const { settings } = itemIn.Queued().state()
    for (const tag of plainTags) {
      const context = { id: checkId, commandId: "c", atMs: 0 }
      const decided = decideRecord(workItem, held, sampleCommand(tag, "work", settings), context)
      assert.strictEqual(Result.isFailure(decided) && decided.failure.message, `no workitem ${checkId}`)
    }
  })
})
