import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { spentIn } from "../../../services/sweeper/spend-ledger.ts"
import { nowMs } from "./rows.ts"

const message = (body: unknown, subject = "log.workitem.1") => ({
  subject,
  sequence: 1,
  storedAtMs: nowMs,
  data: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
  header: () => undefined
})
const usage = { _tag: "UsageAdded", projectId: "garden", iteration: 1, costMicroUsd: 12, tokensInput: 1 }
const read = (body: unknown, subject?: string) => Result.getOrUndefined(spentIn(message(body, subject)))

describe("a record of LOG", () => {
  it("states the cost and the time of decision, once for each fact of it", () => {
    const facts = [{ _tag: "Progressed" }, usage, { ...usage, costMicroUsd: 30 }]
    assert.deepStrictEqual(read({ atMs: nowMs, facts, state: {} }), [
      { projectId: "garden", atMs: nowMs, costMicroUsd: 12 },
      { projectId: "garden", atMs: nowMs, costMicroUsd: 30 }
    ])
  })

  it("is read with any fields before its facts", () => {
    const spent = [{ projectId: "garden", atMs: nowMs, costMicroUsd: 12 }]
    assert.deepStrictEqual(read({ events: [{ of: 1, state: { deep: true } }], atMs: nowMs, facts: [usage] }), spent)
    assert.deepStrictEqual(read({ of: 1, state: { facts: [] }, atMs: nowMs, facts: [usage] }), spent)
    assert.deepStrictEqual(read({ commandId: ',"state":{', atMs: nowMs, facts: [usage], state: {} }), spent)
  })

  it("that only mentions usage spends nothing", () => {
    assert.deepStrictEqual(read({ atMs: nowMs, facts: [{ _tag: "Created", title: '"UsageAdded"' }] }), [])
    assert.deepStrictEqual(read({ atMs: nowMs, facts: [{ _tag: "Progressed" }] }), [])
  })

  it("of another entity is not looked at", () => {
    assert.deepStrictEqual(read({ atMs: nowMs, facts: [usage] }, "log.project.garden"), [])
  })

  it.each([
    { atMs: nowMs, facts: [{ ...usage, costMicroUsd: 1.5 }] },
    '{"facts":[{"_tag":"UsageAdded"',
    { facts: [usage] }
  ])("that is unreadable is reported as such", (body) => {
    assert.isTrue(Result.isFailure(spentIn(message(body))))
  })
})
