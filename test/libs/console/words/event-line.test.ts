import { describe, expect, it } from "vitest"
import { eventCatalogue, exampleEnvelope } from "#base"
import { lineOf } from "../../../../libs/console/words/event-line.ts"

const item = { title: "Mend the login", agent: "gardener", baseBranch: "main", lastError: null }
const project = { id: "orchard", displayName: "Orchard" }

const lines: ReadonlyArray<readonly [event: string, details: unknown, line: string]> = [
  ["work_item.merged", null, "“Mend the login” is merged into main"],
  [
    "work_item.audit_iteration",
    { iteration: 2, totalIterations: 5, blockingFindings: 1, nonBlockingFindings: 3 },
    "“Mend the login” was audited, 2 of 5: 1 blocking finding, 3 others"
  ],
  [
    "work_item.agent_stuck",
    { agentKind: "gardener", stuckSeconds: 900 },
    "“Mend the login” had a hanging agent: gardener was killed after 15 min"
  ],
  ["work_item.cancelled", { reason: null }, "“Mend the login” was cancelled"],
  ["work_item.cancelled", { reason: "twice the same" }, "“Mend the login” was cancelled: twice the same"],
  ["work_item.question_asked", { questionText: "Which port?" }, "“Mend the login” asks: Which port?"],
  ["audit.started", { auditorsScheduled: ["a"] }, "“Mend the login” goes to 1 auditor"],
  ["queue.paused", { pausedBy: "ada", reason: "night" }, "The queue was paused by ada: night"],
  [
    "agent.fallback",
    { phase: "work", fromAgent: "a", toAgent: null, reason: "quota" },
    "Work moves from a to nobody: no member is available: quota"
  ],
  [
    "project.budget_exceeded",
    { projectId: "orchard", currentSpendUsd: 1_250, budgetUsd: 1_000 },
    "orchard is over its budget: $1,250 of $1,000 in 30 days"
  ]
]

describe("the line of an event", () => {
  it.each(lines)("says %s %j as a sentence", (event, details, line) => {
    const envelope = { event, workItem: item, project, details }
    expect(lineOf({ event, entity: "workItem:1", envelope })).toBe(line)
  })

  it("has a sentence of its own for every event of the catalogue but those with open details", () => {
    const plain = eventCatalogue.filter(({ name, firedWhen }) => {
      const line = lineOf({ event: name, entity: null, envelope: exampleEnvelope(name) ?? {}, firedWhen })
      return line.toLowerCase() === firedWhen.toLowerCase()
    })
    expect(plain.map(({ name }) => name)).toEqual(["agent.smoke_recovered"])
  })

  it("never says undefined or null, whatever is missing", () => {
    for (const { name } of eventCatalogue) {
      const line = lineOf({ event: name, entity: null, envelope: { event: name, details: null } })
      expect(line).not.toMatch(/undefined|null|NaN|object/u)
    }
  })

  it("says the catalogue's prose for an event whose envelope is not shown", () => {
    const entity = "workItem:6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"
    const line = lineOf({ event: "work_item.merged", entity, envelope: null, firedWhen: "the merge phase succeeded" })
    expect(line).toBe("Work item 6f1c2f0e: the merge phase succeeded")
  })

  it("says a name that nobody declared in words", () => {
    expect(lineOf({ event: "lunar.phase_changed", entity: null, envelope: {} })).toBe("Lunar phase changed")
  })

  it("cuts a title that would fill the list", () => {
    const envelope = { workItem: { ...item, title: "a".repeat(500) } }
    expect(lineOf({ event: "work_item.done", entity: null, envelope }).length).toBeLessThan(90)
  })
})
