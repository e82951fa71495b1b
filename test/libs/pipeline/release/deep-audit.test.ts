import { assert, describe, it } from "@effect/vitest"
import { uuid } from "../entity-at-work.ts"
import { add, begin, end, iterated, publish, releaseIn, remediation } from "./release-at-work.ts"

const completed = "release.deep_audit_iteration_complete"
const dispatched = "release.deep_audit_remediation_dispatched"

describe("a deep audit", () => {
  it("emits every iteration, one without findings included", () => {
    const spring = releaseIn("in_review")
    assert.deepStrictEqual(spring.does(iterated(1, 0)), [completed])
    assert.deepStrictEqual(spring.last(completed).details, {
      iteration: 1,
      maxIterations: 3,
      blockingFindings: 0,
      totalFindings: 2
    })
    assert.strictEqual(spring.state().state, "in_review")
  })

  it("that blocks dispatches an item that fixes the findings, and links it", () => {
    const spring = releaseIn("in_review")
    assert.deepStrictEqual(spring.does(iterated(1, 2, { remediation: remediation(9) })), [completed, dispatched])
    assert.deepStrictEqual(spring.last(dispatched).details, {
      workItemId: uuid(9),
      title: "Mend the fence",
      iteration: 1,
      blockingFindings: 2
    })
    const fact = spring.steps.at(-1)?.record.facts.at(-1)
    assert.deepInclude(fact, { agent: "smith", projectId: "garden", baseBranch: "release/spring" })
    assert.deepStrictEqual(spring.state().items, [{ workItemId: uuid(9), outcome: "open" }])
    assert.deepStrictEqual(spring.does(add(9)), [], "it is linked already")
    assert.deepStrictEqual(spring.does(end(9, "failed")), ["release.has_failed_work_items"])
  })

  it("that blocks dispatches nothing without findings to fix, nor after the last iteration", () => {
    const spring = releaseIn("in_review")
    assert.deepStrictEqual(spring.does(iterated(1, 2)), [completed])
    assert.deepStrictEqual(spring.does(iterated(3, 2, { remediation: remediation(9) })), [completed, "release.failed"])
    assert.deepStrictEqual(spring.state().items, [])
  })

  it("that does not block dispatches nothing", () => {
    const spring = releaseIn("in_review")
    assert.deepStrictEqual(spring.does(iterated(1, 0, { remediation: remediation(9) })), [completed])
  })

  it("keeps the release from being published until an iteration passes", () => {
    const spring = releaseIn("in_review")
    spring.does(iterated(1, 1))
    assert.match(spring.refuses(publish), /deep audit has not passed/u)
    spring.does(iterated(2, 0))
    assert.deepStrictEqual(spring.does(publish), ["release.published"])
    assert.deepStrictEqual(spring.last("release.published").details, {
      sourceBranch: "release/spring",
      targetBranch: "main",
      mergeSha: "abc1234",
      forgeReleaseUrl: null
    })
  })

  it("ignores a repeated iteration, and one of a finished review", () => {
    const spring = releaseIn("in_review")
    spring.does(iterated(1, 1))
    assert.deepStrictEqual(spring.facts(iterated(1, 1)), [])
    assert.deepStrictEqual(spring.facts(iterated(2, 1, { auditId: "before" })), [])
    assert.deepStrictEqual(spring.facts(begin), [], "it runs already")
    spring.does(iterated(3, 1))
    assert.deepStrictEqual(spring.facts(iterated(3, 1)), [])
    assert.match(spring.refuses(iterated(4, 1, { auditId: null })), /no deep audit of it runs \(failed\)/u)
  })
})
