import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  type Call,
  createItem,
  dispatched,
  type Heard,
  type Json,
  projectId,
  publishReport,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"
import { asked, lastDecision, routeTable } from "./route-table.ts"

const errorOf = ({ body }: Heard) => (body["error"] ?? {}) as Json
const fieldsOf = (heard: Heard) => Object.keys((errorOf(heard)["fields"] ?? {}) as Json).toSorted()

/** An item of a question that is open, and of one that is closed. */
const asking = Effect.fnUntraced(function* (call: Call) {
  const { id } = yield* createItem(call)
  const { dispatchId } = yield* dispatched()
  const questions = ["open", "closed"].map((questionId) => ({ questionId, questionText: `Which ${questionId}?` }))
  yield* publishReport({ kind: "questions-asked", workItemId: id, dispatchId, questions })
  yield* untilState(call, id, "NeedsOperatorInput")
  yield* call(`POST /workitems/${id}/answer`, { body: { questionId: "closed", answer: "yes" } })
  return id
})

const releaseIn = Effect.fnUntraced(function* (call: Call, ...changes: ReadonlyArray<string>) {
  const { body } = yield* call("POST /releases", { body: { name: "Spring", projectId } })
  for (const change of changes) yield* call(`POST /releases/${String(body["id"])}/${change}`)
  return String(body["id"])
})

describe("an unknown id", () => {
  it.live("is not found on any route, well-formed or not, and has no effect", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const before = yield* lastDecision
        for (const row of routeTable.filter(({ unknown }) => unknown !== null)) {
          const ids = [randomUUID(), `${randomUUID()}-1`, "nonsense", "a b/c", "x".repeat(300)]
          for (const id of ids) {
            const { verb, ...rest } = asked(row, id)
            const heard = yield* call(verb, rest)
            assert.deepStrictEqual([heard.status, errorOf(heard)["code"]], [404, row.unknown], verb)
          }
        }
        assert.strictEqual(yield* lastDecision, before)
      })
    )
  )
})

const text = (characters: number) => "r".repeat(characters)

/** The request, and its wrong fields: all of them at once. */
const faulty: ReadonlyArray<readonly [verb: string, body: unknown, fields: ReadonlyArray<string>]> = [
  [
    "POST /workitems",
    { title: text(301), instructions: text(8_001), projectId: text(257), externalId: "", workBranchPrefix: "a..b" },
    ["externalId", "instructions", "projectId", "title", "workBranchPrefix"]
  ],
  ["POST /workitems", {}, ["projectId", "title"]],
  ["POST /workitems/{item}/answer", {}, ["answer", "questionId"]],
  ["POST /workitems/{item}/answer", { questionId: "q 1", answer: text(8_001) }, ["answer", "questionId"]],
  ["POST /workitems/{item}/answer", { questionId: text(65), answer: "  " }, ["answer", "questionId"]],
  ["POST /workitems/{item}/dismiss-question", { questionId: "", reason: text(8_001) }, ["questionId", "reason"]],
  ["POST /workitems/{item}/delegate", { reason: "", note: text(2_001) }, ["note", "reason"]],
  ["DELETE /workitems/{item}", { reason: text(501), resolutionSha: "abc12" }, ["reason", "resolutionSha"]],
  ["DELETE /workitems/{item}", { resolutionSha: "a".repeat(41) }, ["resolutionSha"]],
  ["DELETE /workitems/{item}", { resolutionSha: "not-hex" }, ["resolutionSha"]],
  [`DELETE /workitems/{item}?reason=${text(501)}&resolutionSha=abcdefg`, undefined, ["reason", "resolutionSha"]],
  ["GET /workitems?state=Dreaming&release=x&kind=deed", undefined, ["kind", "release", "state"]],
  ["GET /workitems?limit=201&cursor=abc", undefined, ["cursor", "limit"]],
  ["GET /workitems/{item}/history?limit=0", undefined, ["limit"]],
  ["POST /releases", { name: " ", projectId: "", targetBranch: "a b" }, ["name", "projectId", "targetBranch"]],
  ["POST /releases", { name: "Spring", projectId: "nowhere" }, ["projectId"]],
  ["POST /releases/{release}/close", { reason: text(501) }, ["reason"]],
  ["GET /releases?state=lost", undefined, ["state"]],
  ["PUT /projects/garden", { displayName: "", repositoryUrl: "x" }, ["displayName", "repositoryUrl"]],
  ["POST /projects/gates/queue/pause", {}, ["reason"]],
  ["POST /queue/pause", { reason: text(501) }, ["reason"]],
  ["POST /agents/owl/pause", { expiresInSeconds: 0 }, ["expiresInSeconds", "reason"]],
  ["POST /agents/owl/resume", { reason: text(501) }, ["reason"]],
  ["POST /agents/owl/restore", { outageStartedAt: "yesterday" }, ["outageStartedAt"]]
]

describe("an invalid request", () => {
  it.live("gets all its faults, field by field, and changes nothing", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const release = yield* releaseIn(call)
        const before = yield* lastDecision
        for (const [verb, body, fields] of faulty) {
          const place = verb.replace("{item}", id).replace("{release}", release)
          const heard = yield* call(place, body === undefined ? {} : { body })
          assert.deepStrictEqual([heard.status, errorOf(heard)["code"]], [400, "validation_failed"], verb.slice(0, 80))
          assert.deepStrictEqual(fieldsOf(heard), [...fields], verb.slice(0, 80))
        }
        assert.strictEqual(yield* lastDecision, before)
      })
    )
  )

  it.live("gets no fault exactly at its limits", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call, { title: text(300), instructions: text(8_000), externalId: text(256) })
        const short = yield* createItem(call)
        const reason = text(500)
        const cancelled = yield* call(`DELETE /workitems/${id}`, { body: { reason, resolutionSha: "a".repeat(40) } })
        assert.strictEqual(cancelled.status, 200)
        assert.strictEqual((yield* call(`DELETE /workitems/${short.id}?resolutionSha=ABCDEF0`)).status, 200)
      })
    )
  )
})

/** The command, its entity, the entity's state, and a word of the reason. */
const refused: ReadonlyArray<readonly [verb: string, body: Json | undefined, state: string, reason: RegExp]> = [
  ["POST /workitems/{queued}/resume", undefined, "Queued", /only a cancelled item can be resumed/u],
  ["POST /workitems/{queued}/answer", { questionId: "q", answer: "a" }, "Queued", /no question is open/u],
  ["POST /workitems/{queued}/dismiss-question", { questionId: "q" }, "Queued", /no question is open/u],
  ["DELETE /workitems/{cancelled}", undefined, "Cancelled", /has ended/u],
  ["DELETE /workitems/{cancelled}", { reason: "again" }, "Cancelled", /has ended/u],
  ["POST /workitems/{cancelled}/answer", { questionId: "q", answer: "a" }, "Cancelled", /no question is open/u],
  ["POST /workitems/{cancelled}/delegate", { reason: "r" }, "Cancelled", /has ended, and takes no Delegate/u],
  ["POST /workitems/{asking}/answer", { questionId: "closed", answer: "a" }, "NeedsOperatorInput", /closed already/u],
  ["POST /workitems/{asking}/answer", { questionId: "never", answer: "a" }, "NeedsOperatorInput", /not asked never/u],
  ["POST /workitems/{asking}/dismiss-question", { questionId: "closed" }, "NeedsOperatorInput", /closed already/u],
  ["POST /workitems/{asking}/resume", undefined, "NeedsOperatorInput", /only a cancelled item/u],
  ["POST /releases/{open}/reopen", undefined, "open", /only a failed release/u],
  ["POST /releases/{closed}/close", undefined, "closed", /only an open release can be closed/u],
  ["POST /releases/{closed}/abandon", undefined, "closed", /only an open release can be abandoned/u],
  ["POST /releases/{abandoned}/close", undefined, "abandoned", /only an open release can be closed/u],
  ["POST /releases/{abandoned}/reopen", undefined, "abandoned", /only a failed release/u]
]

describe("a request that the state does not allow", () => {
  it.live("is a conflict that names the state and the reason, and changes nothing", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const places: Record<string, string> = { asking: yield* asking(call) }
        for (const name of ["queued", "cancelled"]) places[name] = (yield* createItem(call)).id
        yield* call(`DELETE /workitems/${places["cancelled"]}`)
        Object.assign(places, {
          open: yield* releaseIn(call),
          closed: yield* releaseIn(call, "close"),
          abandoned: yield* releaseIn(call, "abandon")
        })
        const before = yield* lastDecision
        for (const [verb, body, state, reason] of refused) {
          const place = verb.replace(/\{(\w+)\}/u, (_all, name: string) => places[name] ?? "")
          const heard = yield* call(place, body === undefined ? {} : { body })
          assert.deepStrictEqual([heard.status, errorOf(heard)["code"]], [409, "conflict"], verb)
          const details = errorOf(heard)["details"] as Json
          assert.strictEqual(details["state"], state, verb)
          assert.match(String(details["reason"]), reason, verb)
        }
        const late = yield* call("POST /workitems", { body: { title: "x", projectId, releaseId: places["closed"] } })
        assert.deepStrictEqual(
          [late.status, errorOf(late)["details"]],
          [409, { state: "closed", reason: "only an open release takes work items" }]
        )
        assert.strictEqual(yield* lastDecision, before)
      })
    )
  )
})
