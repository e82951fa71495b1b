import { assert, describe, it } from "@effect/vitest"
import { checkId, freshId, inHand, itemAtWork, itemId } from "./item-at-work.ts"

const verdict = { isMatched: true, answer: "the gate is rusty", followUp: null }

const check = () => {
  const item = itemAtWork({}, { kind: "check", instructions: "Is the gate rusty?" })
  item.takes("work")
  return item
}
const followUp = () => itemAtWork({}, { kind: "follow-up", originCheckWorkItemId: checkId })

describe("a check", () => {
  it("with a matching verdict asks for a follow-up, and is done", () => {
    const item = check()
    const events = item.reports("check-verdict", verdict)
    assert.deepStrictEqual(events, ["work_item.check_followup_enqueued", "work_item.done"])
    assert.deepStrictEqual(item.last("work_item.check_followup_enqueued")?.details, {
      originCheckWorkItemId: itemId,
      followupWorkItemId: freshId
    })
    assert.deepStrictEqual(item.records.at(-1)?.facts[0], {
      _tag: "FollowUpAsked",
      followupWorkItemId: freshId,
      title: "Mend the gate",
      instructions: "Is the gate rusty?",
      answer: "the gate is rusty"
    })
  })

  it("may say what the follow-up is to do", () => {
    const item = check()
    item.reports("check-verdict", { ...verdict, followUp: { title: "Oil it", instructions: "Twice." } })
    assert.deepInclude(item.records.at(-1)?.facts[0], { title: "Oil it", instructions: "Twice." })
  })

  it("that was delegated still ends with a verdict", () => {
    const item = check()
    item.does({ _tag: "Delegate", trigger: "operator", reason: "too hard", note: null })
    item.takes("delegation")
    assert.strictEqual(item.reports("check-verdict", verdict).at(-1), "work_item.done")
  })

  it("without a match ends without action", () => {
    const item = check()
    const events = item.reports("check-verdict", { ...verdict, isMatched: false })
    assert.deepStrictEqual(events, ["work_item.no_action_required"])
  })

  it("changes nothing, and no other item is a check", () => {
    const commit = { outcome: "committed", commitSha: "abc1234", durationMs: 1 } as const
    assert.match(check().refusesReport("iteration-ended", commit), /ends with a verdict/u)
    assert.match(inHand("work").refusesReport("check-verdict", verdict), /is not a check/u)
  })
})

describe("the check after an act", () => {
  const recheck = { iteration: 1, answer: "no rust", actionableAnswer: "no" }

  it("is reported with its check, once per iteration", () => {
    const item = followUp()
    item.takes("work")
    item.commits()
    item.takes("audit")
    item.audited()
    item.takes("merge")
    item.reports("merge-ended", { outcome: "merged", mergeSha: "feed123", reason: null })
    item.takes("upstream")
    item.reports("push-ended", { outcome: "pushed", reason: null })
    assert.deepStrictEqual(item.reports("recheck-completed", recheck), ["work_item.post_act_recheck_completed"])
    assert.deepStrictEqual(item.last("work_item.post_act_recheck_completed")?.details, {
      ...recheck,
      originCheckWorkItemId: checkId
    })
    assert.deepStrictEqual(item.reports("recheck-completed", recheck), [])
    assert.strictEqual(item.reports("recheck-completed", { ...recheck, iteration: 2 }).length, 1)
    assert.strictEqual(item.state().state, "Done")
  })

  it("is refused before the act, and for an item without a check", () => {
    assert.match(followUp().refusesReport("recheck-completed", recheck), /takes no recheck-completed/u)
    assert.match(inHand("upstream").refusesReport("recheck-completed", recheck), /follows from no check/u)
  })
})
