import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { jsonCodec, Kv, Requests, StreamReader } from "#bus"
import { HeldAnswer, HeldQuestion } from "#pipeline/contract"
import { subjects } from "#base"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import {
  commandOver,
  createItem,
  dispatched,
  eventsTold,
  itemNow,
  projectId,
  publishReport,
  secretValue,
  untilState,
  withPipeline
} from "../../support/pipeline.ts"
import { creation } from "../../../dev/fixtures/work-item-creation.ts"

const create = creation({
  projectId,
  project: { id: projectId, displayName: "Gates", repositoryUrl: "https://git.example/gates" }
})

describe("a runner that checks its ownership of an item", () => {
  const isHeld = (workItemId: string, dispatchId: string) =>
    Effect.flatMap(Requests, (requests) =>
      requests.ask(
        {
          subject: subjects.pickupHeld,
          question: jsonCodec(HeldQuestion),
          answer: jsonCodec(HeldAnswer),
          timeoutMs: 5_000
        },
        { workItemId, dispatchId }
      )
    )

  it.live(
    "is confirmed while it owns it, and denied at once when the item was cancelled, given to another, or never existed",
    () =>
      withPipeline((call) =>
        Effect.gen(function* () {
          const { id } = yield* createItem(call)
          const { dispatchId } = yield* dispatched()
          assert.deepStrictEqual(yield* isHeld(id, dispatchId), { _tag: "Held" })
          assert.deepStrictEqual(yield* isHeld(id, "another"), { _tag: "Over", state: "Working" })
          assert.deepStrictEqual(yield* isHeld(randomUUID(), dispatchId), { _tag: "Over", state: null })
          assert.strictEqual((yield* call(`DELETE /workitems/${id}`)).status, 200)
          assert.deepStrictEqual(yield* isHeld(id, dispatchId), { _tag: "Over", state: "Cancelled" })
        })
      )
  )
})

describe("a command over the bus", () => {
  it.live("is carried out once, however often it is sent, and answered with the entity", () =>
    withPipeline(() =>
      Effect.gen(function* () {
        const id = randomUUID()
        const first = yield* commandOver("workitem", id, create, "c-1")
        const again = yield* commandOver("workitem", id, create, "c-1")
        const other = yield* commandOver("workitem", id, create, "c-2")
        assert.deepStrictEqual(
          [first._tag === "Accepted" && first.was, again._tag === "Accepted" && again.was],
          ["decided", "repeated"]
        )
        assert.strictEqual(first._tag === "Accepted" && first.state["state"], "Queued")
        assert.deepStrictEqual(other, {
          _tag: "Refused",
          state: "Queued",
          reason: "an item of that id is there already"
        })
      })
    )
  )

  it.live("gets every fault, or the absence of its entity", () =>
    withPipeline(() =>
      Effect.gen(function* () {
        const bad = yield* commandOver("release", randomUUID(), { _tag: "Create", name: "", description: 7 })
        assert.strictEqual(bad._tag, "Invalid")
        if (bad._tag === "Invalid") assert.isTrue(bad.faults.every(({ path }) => path.startsWith("/command")))
        const nobody = yield* commandOver("workitem", randomUUID(), { _tag: "Resume" })
        assert.strictEqual(nobody._tag, "NotFound")
        const paused = yield* commandOver("queue", "global", { _tag: "Pause", reason: "night", pausedBy: "me" })
        assert.strictEqual(paused._tag === "Accepted" && paused.state["state"], "Paused")
      })
    )
  )
})

describe("an answer to a question", () => {
  const secret = "ghp_0123456789abcdefghij0123456789abcdef"

  it.live("reaches the runner verbatim, once, and nobody else", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const work = yield* dispatched()
        const questions = [
          { questionId: "q-1", questionText: `Is ${secretValue} right?` },
          { questionId: "q-2", questionText: "And this?" }
        ]
        yield* publishReport({ kind: "questions-asked", workItemId: id, dispatchId: work.dispatchId, questions })
        yield* untilState(call, id, "NeedsOperatorInput")
        const answer = { questionId: "q-1", answer: `Use ${secret}.` }
        const answered = yield* call(`POST /workitems/${id}/answer`, { body: answer })
        assert.deepStrictEqual([answered.status, answered.body["state"]], [200, "NeedsOperatorInput"])
        const twice = yield* call(`POST /workitems/${id}/answer`, { body: { questionId: "q-1", answer: "No: that." } })
        assert.strictEqual(twice.status, 409)
        yield* call(`POST /workitems/${id}/dismiss-question`, { body: { questionId: "q-2", reason: "never mind" } })
        const next = yield* dispatched({ runner: "runner-2" })
        assert.deepStrictEqual(
          next.replies.toSorted((left, right) => (left.questionId < right.questionId ? -1 : 1)),
          [
            { questionId: "q-1", outcome: "answered", text: `Use ${secret}.` },
            { questionId: "q-2", outcome: "dismissed", text: "never mind" }
          ]
        )
        // The same runner, which did not get the answer, gets it again; another one does not.
        const again = yield* dispatched({ runner: "runner-2", pickupId: next.dispatchId })
        assert.strictEqual(again.replies.length, 2)
        yield* publishReport({ kind: "agent-died", workItemId: id, dispatchId: next.dispatchId, reason: "exit 137" })
        yield* untilState(call, id, "Queued")
        assert.deepStrictEqual((yield* dispatched({ runner: "runner-3" })).replies, [])
      })
    )
  )

  it.live("has no secrets in the log, in events, and in views", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const work = yield* dispatched()
        const of = { workItemId: id, dispatchId: work.dispatchId }
        yield* publishReport({
          kind: "questions-asked",
          ...of,
          questions: [{ questionId: "q", questionText: `Is ${secretValue} right?` }]
        })
        yield* untilState(call, id, "NeedsOperatorInput")
        yield* call(`POST /workitems/${id}/answer`, { body: { questionId: "q", answer: `Use ${secret}.` } })
        const next = yield* dispatched()
        yield* publishReport({
          kind: "failed",
          workItemId: id,
          dispatchId: next.dispatchId,
          reason: `refused ${secret}`,
          failureKind: "agent"
        })
        yield* untilState(call, id, "Failed")
        const item = yield* itemNow(call, id)
        assert.strictEqual(item.lastError, "refused [github-token]")
        yield* eventually(eventsTold, { is: (events) => events.some(({ event }) => event === "work_item.failed") })
        const events = yield* eventsTold
        const told = (name: string) =>
          events.find(({ event }) => event === name)?.["details"] as Record<string, unknown>
        assert.strictEqual(told("work_item.question_asked")["questionText"], "Is [secret] right?")
        assert.strictEqual(told("work_item.question_answered")["answer"], "Use [github-token].")
        const reader = yield* StreamReader
        const { lastSequence: toSequence } = yield* reader.bounds("LOG")
        const records = yield* Stream.runCollect(
          reader.range("LOG", { fromSequence: 1, toSequence, subject: subjects.log("workitem", id) })
        )
        const everything = `${records.map(({ data }) => new TextDecoder().decode(data)).join()}${JSON.stringify(events)}`
        assert.isAbove(records.length, 4)
        assert.notInclude(everything, secret)
        assert.notInclude(everything, secretValue)
        // A delivered answer expires within a minute, and only its runner can read it.
        const kept = yield* (yield* Kv).open("answers", Schema.Struct({ takenBy: Schema.NullOr(Schema.String) }))
        const left = yield* Stream.runCollect(kept.scan(">"))
        assert.deepStrictEqual(
          left.map(({ value }) => value.takenBy),
          [next.dispatchId]
        )
      })
    )
  )
})
