import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  commandOver,
  createItem,
  dispatched,
  eventsTold,
  itemNow,
  type Json,
  pickUp,
  projectId,
  publishReport,
  reportSuccess,
  secretValue,
  setUpProject,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"

const token = "ghp_0123456789abcdefghij0123456789abcdef"

/** The details of every event of that name, in order. */
const told = (name: string, count: number) =>
  Effect.gen(function* () {
    const found = Effect.map(eventsTold, (events) => events.filter(({ event }) => event === name))
    yield* eventually(found, { is: (events) => events.length >= count })
    const events = yield* found
    assert.lengthOf(events, count)
    return events.map(({ details }) => details as Json | null)
  })

describe("an operator who cancels", () => {
  it.live("may give a reason and a commit, in the body or the query, and the body has precedence", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const query = "?reason=asked&resolutionSha=0123abc"
        const body = { reason: "written" }
        yield* call(`DELETE /workitems/${(yield* createItem(call)).id}`)
        yield* call(`DELETE /workitems/${(yield* createItem(call)).id}${query}`)
        yield* call(`DELETE /workitems/${(yield* createItem(call)).id}${query}`, { body })
        yield* call(`DELETE /workitems/${(yield* createItem(call)).id}`, { body })
        const priorState = "Queued"
        assert.deepStrictEqual(yield* told("work_item.cancelled", 4), [
          null,
          { priorState, reason: "asked", resolutionSha: "0123abc" },
          { priorState, reason: "written", resolutionSha: "0123abc" },
          { priorState, reason: "written", resolutionSha: null }
        ])
      })
    )
  )

  it.live("gets the parked item's prior state, and may resume it there", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call, { externalId: "T-1" })
        yield* reportSuccess(yield* dispatched())
        const { dispatchId } = yield* dispatched()
        const questions = [{ questionId: "q", questionText: "Which?" }]
        yield* publishReport({ kind: "questions-asked", workItemId: id, dispatchId, questions })
        yield* untilState(call, id, "NeedsOperatorInput")
        yield* call(`DELETE /workitems/${id}`)
        yield* call(`POST /workitems/${id}/resume`)
        assert.deepStrictEqual(yield* told("work_item.cancelled", 1), [
          { priorState: "NeedsOperatorInput", reason: null, resolutionSha: null }
        ])
        assert.deepStrictEqual(yield* told("work_item.resumed", 1), [
          { id, externalId: "T-1", resumedFromPhase: "audit" }
        ])
        assert.strictEqual((yield* dispatched()).phase, "audit")
      })
    )
  )

  it.live("and gets no answer may retry with the same key, for one event", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const headers = { "idempotency-key": "cancel-1" }
        for (let time = 0; time < 3; time++) {
          const { status, body } = yield* call(`DELETE /workitems/${id}`, { headers })
          assert.deepStrictEqual([status, body["state"]], [200, "Cancelled"])
        }
        const other = yield* call(`DELETE /workitems/${id}`, { headers: { "idempotency-key": "cancel-2" } })
        assert.strictEqual(other.status, 409)
        const resumed = yield* call(`POST /workitems/${id}/resume`, { headers })
        assert.deepStrictEqual(
          [resumed.status, resumed.body["state"]],
          [200, "Queued"],
          "another route, another command"
        )
        yield* told("work_item.cancelled", 1)
        yield* told("work_item.resumed", 1)
      })
    )
  )
})

describe("a question", () => {
  it.live("is redacted everywhere, and the runner gets replies verbatim", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const { dispatchId } = yield* dispatched()
        const questions = [
          { questionId: "q1", questionText: `Is it ${token}?` },
          { questionId: "q2", questionText: `Or ${secretValue}?` }
        ]
        const ask = { kind: "questions-asked", workItemId: id, dispatchId, questions }
        yield* publishReport(ask)
        yield* publishReport(ask)
        yield* untilState(call, id, "NeedsOperatorInput")
        assert.strictEqual((yield* itemNow(call, id)).openQuestions.length, 2)
        const answer = `No, ${secretValue}`
        const reason = `It was ${token}`
        yield* call(`POST /workitems/${id}/answer`, { body: { questionId: "q1", answer } })
        yield* call(`POST /workitems/${id}/dismiss-question`, { body: { questionId: "q2", reason } })
        assert.strictEqual((yield* itemNow(call, id)).state, "Queued")

        const of = { workItemId: id, projectId: "gates" }
        const [first, second] = yield* told("work_item.question_asked", 2)
        assert.strictEqual(first?.["questionText"], "Is it [github-token]?")
        assert.strictEqual(second?.["questionId"], "q2")
        const [answered] = yield* told("work_item.question_answered", 1)
        assert.deepInclude(answered ?? {}, { ...of, questionId: "q1", answeredBy: null })
        const [dismissed] = yield* told("work_item.question_dismissed", 1)
        assert.deepStrictEqual(dismissed, { ...of, questionId: "q2", reason: "It was [github-token]" })
        const everything = JSON.stringify(yield* eventsTold) + JSON.stringify(yield* itemNow(call, id))
        for (const secret of [token, secretValue]) assert.notInclude(everything, secret)

        const { replies } = yield* dispatched()
        assert.sameDeepMembers(
          [...replies],
          [
            { questionId: "q1", outcome: "answered", text: answer },
            { questionId: "q2", outcome: "dismissed", text: reason }
          ]
        )
      })
    )
  )
})

describe("an operator who pauses", () => {
  for (const what of ["/queue", "/agents/smith", "/projects/gates/queue"]) {
    it.live(`stops nothing that a runner has in hand: ${what}`, () =>
      withPipeline((call) =>
        Effect.gen(function* () {
          const { id } = yield* createItem(call)
          const given = yield* dispatched()
          assert.strictEqual((yield* call(`POST ${what}/pause`, { body: { reason: "a look at it" } })).status, 200)
          assert.strictEqual((yield* itemNow(call, id)).running?.dispatchId, given.dispatchId)
          yield* reportSuccess(given)
          yield* untilState(call, id, "WorkComplete")
        })
      )
    )
  }
})

describe("an operator who resumes", () => {
  const causesOf = (body: Json) => (body["holds"] as ReadonlyArray<Json>).map(({ cause }) => cause)

  it.live("keeps a queue paused under its budget's hold, is told so, and no work is given out", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const queue = "/projects/gates/queue"
        yield* createItem(call)
        yield* setUpProject(call, { monthlyBudgetUsd: 100 })
        const spends = (usd: number) =>
          commandOver("project", projectId, { _tag: "SweepSpend", spendMicroUsd: usd * 1_000_000, epoch: "run 1" })
        const paused = yield* call(`POST ${queue}/pause`, { body: { reason: "freeze" } })
        assert.deepStrictEqual(causesOf(paused.body), ["manual"])
        yield* spends(120)
        const both = yield* call(`GET /projects/${projectId}`)
        assert.deepStrictEqual(causesOf(both.body), ["manual", "budget"])
        const resumed = yield* call(`POST ${queue}/resume`)
        assert.deepStrictEqual([resumed.status, resumed.body["state"]], [200, "Paused"])
        assert.deepStrictEqual(causesOf(resumed.body), ["budget"])
        const [hold] = resumed.body["holds"] as ReadonlyArray<Json>
        assert.deepInclude(hold ?? {}, { reason: "30-day spend reached 100 % of the budget", pausedBy: null })
        // The lists are a moment behind.
        yield* eventually(pickUp({ waitMs: 0 }), {
          is: (given) => {
            assert.strictEqual(given._tag, "Nothing")
            return given._tag === "Nothing" && given.why === "project-paused"
          }
        })
        yield* spends(10)
        const runs = yield* call(`GET /projects/${projectId}`)
        assert.deepStrictEqual([runs.body["state"], runs.body["holds"]], ["Running", []])
        yield* eventually(pickUp({ waitMs: 0 }), { is: ({ _tag }) => _tag === "Dispatch" })
        const pauses = yield* told("project.queue_paused", 2)
        assert.deepStrictEqual(
          pauses.map((details) => [details?.["automatic"], causesOf(details ?? {})]),
          [
            [false, ["manual"]],
            [true, ["manual", "budget"]]
          ]
        )
        const resumptions = yield* told("project.queue_resumed", 2)
        assert.deepStrictEqual(
          resumptions.map((details) => [details?.["automatic"], causesOf(details ?? {})]),
          [
            [false, ["budget"]],
            [true, []]
          ]
        )
      })
    )
  )

  it.live("an agent that is benched and out of quota is told of these remaining holds", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const occurredAtMs = yield* Clock.currentTimeMillis
        yield* call("POST /agents/owl/pause", { body: { reason: "tired" } })
        const failure = { cause: "probe", reason: "auth", category: "Persistent", item: null, epoch: null }
        yield* commandOver("agent", "owl", { _tag: "FailSmoke", ...failure, occurredAtMs })
        yield* commandOver("agent", "owl", { _tag: "HitQuota", occurredAtMs, resetAtMs: null })
        const resumed = yield* call("POST /agents/owl/resume")
        assert.deepStrictEqual([resumed.body["state"], causesOf(resumed.body)], ["Benched", ["bench", "quota"]])
        const listed = Effect.map(call("GET /agents"), ({ body }) =>
          (body["items"] as ReadonlyArray<Json>).find(({ agent }) => agent === "owl")
        )
        yield* eventually(listed, { is: (owl) => owl?.["sequence"] === resumed.body["sequence"] })
        assert.deepStrictEqual((yield* listed)?.["holds"], resumed.body["holds"])
        const restored = yield* call("POST /agents/owl/restore")
        assert.deepStrictEqual([restored.body["state"], causesOf(restored.body)], ["QuotaExhausted", ["quota"]])
        assert.deepInclude(yield* pickUp({ agent: "owl", waitMs: 0 }), { _tag: "Nothing" })
      })
    )
  )
})

describe("a suggestion", () => {
  it.live("shows its rationale only on request", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const { dispatchId } = yield* dispatched()
        const suggestion = (title: string) => ({
          title,
          rationale: "Only for those who ask.",
          category: "security",
          severity: "important",
          estimatedEffort: "large",
          filesReferenced: ["gate.ts"]
        })
        const suggestions = ["One", "Two", "Three"].map(suggestion)
        yield* publishReport({ kind: "suggestions-made", workItemId: id, dispatchId, suggestions })
        const details = yield* told("work_item.suggestion", 3)
        const { rationale, ...rest } = suggestion("Two")
        assert.deepStrictEqual(details[1], { id: `${id}-2`, ...rest })
        assert.notInclude(JSON.stringify(yield* eventsTold), rationale)
        const { body } = yield* call(`GET /suggestions/${id}-2`)
        assert.deepInclude(body, { id: `${id}-2`, workItemId: id, projectId: "gates", rationale, ...rest })
      })
    )
  )
})
