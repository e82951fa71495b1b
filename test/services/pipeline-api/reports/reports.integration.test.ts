import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { Publisher, StreamReader } from "#bus"
import { busOn, natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  caller,
  commandOver,
  createItem,
  dispatched,
  eventNames,
  eventsTold,
  itemNow,
  type Json,
  metricsText,
  pipelineOn,
  publishReport,
  reportSuccess,
  setUpProject,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"

const counted = (kind: string, outcome: string, count: number) =>
  eventually(metricsText, {
    is: (text) =>
      text
        .split("\n")
        .some(
          (line) =>
            line.startsWith("pipeline_reports_total") &&
            line.includes(`kind="${kind}"`) &&
            line.includes(`outcome="${outcome}"`) &&
            line.endsWith(` ${count}`)
        )
  })

describe("a report", () => {
  it.live("changes nothing when it is repeated, late, or about something unknown", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const { dispatchId } = yield* dispatched()
        const ended = {
          kind: "iteration-ended",
          reportId: randomUUID(),
          workItemId: id,
          dispatchId,
          outcome: "committed",
          commitSha: "abc1234",
          durationMs: 5
        }
        yield* publishReport(ended)
        yield* publishReport(ended)
        yield* publishReport({ ...ended, reportId: randomUUID() })
        yield* publishReport({ ...ended, reportId: randomUUID(), workItemId: randomUUID() })
        yield* counted("iteration-ended", "decided", 1)
        yield* counted("iteration-ended", "unchanged", 2)
        yield* counted("iteration-ended", "unknown", 1)
        const item = yield* itemNow(call, id)
        assert.strictEqual(item.state, "WorkComplete")
        yield* eventually((yield* StreamReader).bounds("REPORTS"), { is: ({ messages }) => messages === 0 })
        assert.strictEqual((yield* eventNames).filter((name) => name === "iteration.completed").length, 1)
      })
    )
  )

  it.live("that the item cannot follow is refused and dropped, and the next one continues", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const { dispatchId } = yield* dispatched()
        const of = { workItemId: id, dispatchId }
        const usage = { tokensInput: 1, tokensOutput: 1, tokensCached: 0, costMicroUsd: 2_500_000, elapsedMs: 1 }
        const refused = {
          kind: "push-ended",
          reportId: randomUUID(),
          ...of,
          outcome: "pushed",
          reason: null,
          usage
        }
        yield* publishReport(refused)
        yield* publishReport(refused)
        yield* counted("push-ended", "refused", 2)
        // The money is spent all the same, and once.
        assert.strictEqual((yield* itemNow(call, id)).usageTotal?.costUsd, 2.5)
        yield* publishReport({ kind: "iteration-ended", ...of, outcome: "no-action", commitSha: null, durationMs: 1 })
        yield* untilState(call, id, "NoActionRequired")
      })
    )
  )

  it.live("that breaks its schema goes to REJECTED with every fault, and delays no other", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const given = yield* dispatched()
        yield* publishReport({ kind: "iteration-ended", workItemId: "x", outcome: "maybe" })
        yield* (yield* Publisher).publishRaw("reports.nonsense", new TextEncoder().encode("{"))
        yield* reportSuccess(given)
        yield* untilState(call, id, "WorkComplete")
        const reader = yield* StreamReader
        yield* eventually(reader.bounds("REJECTED"), { is: ({ messages }) => messages === 2 })
      })
    )
  )

  it.live("of the same item is decided in stored order, even when many wait", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const reports = 40
      const { id, dispatchId } = yield* Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        const { id } = yield* createItem(call)
        return { id, dispatchId: (yield* dispatched()).dispatchId }
      }).pipe(Effect.provide(pipelineOn(server)))
      // No process takes reports now; a whole pile waits for the next one.
      yield* Effect.gen(function* () {
        for (let n = 1; n <= reports; n++) {
          yield* publishReport({
            kind: "suggestions-made",
            workItemId: id,
            dispatchId,
            suggestions: [
              {
                title: `suggestion ${n}`,
                rationale: "",
                category: "other",
                severity: "minor",
                estimatedEffort: "tiny",
                filesReferenced: []
              }
            ]
          })
        }
      }).pipe(Effect.provide(busOn(server).pipe(Layer.fresh)))
      yield* Effect.gen(function* () {
        const told = Effect.map(eventsTold, (events) =>
          events
            .filter(({ event }) => event === "work_item.suggestion")
            .map(({ details }) => (details as Json)["title"])
        )
        yield* eventually(told, { is: (titles) => titles.length === reports })
        assert.deepStrictEqual(
          yield* told,
          Array.from({ length: reports }, (_, index) => `suggestion ${index + 1}`)
        )
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )

  it.live("of agents, sandboxes and pull requests becomes its event", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        const smoke = {
          kind: "smoke-result",
          agent: "owl",
          agentInstanceId: null,
          cause: "pickup",
          workItemId: id,
          reason: "auth",
          category: "Persistent",
          occurredAtMs: yield* Clock.currentTimeMillis,
          epoch: null
        }
        yield* publishReport({ ...smoke, outcome: "failed" })
        const leak = {
          name: "service-1",
          ageMinutes: 5,
          diskMb: null,
          reason: "untracked_sandbox_age_threshold_exceeded"
        }
        yield* publishReport({ kind: "sandbox-leak-detected", ...leak })
        yield* publishReport({
          kind: "sandbox-leak-dispose-failed",
          ...leak,
          error: "no: ghp_0123456789abcdefghij0123456789abcdef"
        })
        yield* publishReport({
          kind: "pull-request-mergeability",
          projectId: "gates",
          workItemId: id,
          pullRequestNumber: 7,
          pullRequestUrl: "https://git.example/gates/pull/7",
          headBranch: "starling/1",
          headSha: "abc1234",
          baseBranch: "main",
          mergeability: "stale-base",
          firstDetectedAtMs: 1
        })
        const wanted = [
          "agent.smoke_failed",
          "sandbox.leak_detected",
          "sandbox.leak_dispose_failed",
          "upstream.pr_stale_base"
        ]
        yield* eventually(eventNames, { is: (names) => wanted.every((name) => names.includes(name)) })
        const events = yield* eventsTold
        const of = (name: string) => events.find(({ event }) => event === name) ?? {}
        assert.strictEqual(((of("agent.smoke_failed") as Json)["workItem"] as Json)["id"], id)
        assert.strictEqual(
          ((of("sandbox.leak_dispose_failed") as Json)["details"] as Json)["error"],
          "no: [github-token]"
        )
        assert.strictEqual(((of("upstream.pr_stale_base") as Json)["workItem"] as Json)["id"], id)
        const benched = yield* commandOver("agent", "owl", { _tag: "ExpirePause" })
        assert.strictEqual(benched._tag === "Accepted" && benched.state["state"], "Benched")
      })
    )
  )
})
