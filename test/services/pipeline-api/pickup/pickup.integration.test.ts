import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { eventually } from "../../../support/bus.ts"
import {
  createItem,
  dispatched,
  eventNames,
  itemNow,
  pickUp,
  projectId,
  publishReport,
  reportSuccess,
  setUpProject,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"
import { createMany, dispatchedAndPaused, listed } from "./asked-at-once.ts"

describe("pickup", () => {
  it.live("gives out by priority and then by age, and each phase once", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const low = yield* createItem(call, { priority: 1 })
        const first = yield* createItem(call)
        const second = yield* createItem(call)
        const urgent = yield* createItem(call, { priority: 9 })
        yield* listed(4)
        const given = []
        for (let n = 0; n < 4; n++) given.push((yield* dispatched()).workItem.id)
        assert.deepStrictEqual(given, [urgent.id, first.id, second.id, low.id])
        const none = yield* pickUp({ waitMs: 0 })
        assert.strictEqual(none._tag === "Nothing" && none.why, "empty")
      })
    )
  )

  for (const what of ["/queue", "/agents/smith", `/projects/${projectId}/queue`]) {
    it.live(`gives nothing out once a pause is answered: ${what}`, () =>
      withPipeline((call) =>
        Effect.gen(function* () {
          yield* createMany(call, 120)
          yield* listed(120)
          const enough = yield* Deferred.make<void>()
          let given = 0
          const runner = Effect.repeat(
            Effect.tap(
              Effect.suspend(() => pickUp({ waitMs: 0 })),
              ({ _tag }) => (_tag === "Dispatch" && ++given === 20 ? Deferred.succeed(enough, undefined) : Effect.void)
            ),
            { while: (answer) => answer._tag === "Dispatch" || answer.why === "busy" }
          )
          const asking = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: 8 }, () => runner),
              { concurrency: "unbounded" }
            )
          )
          yield* Deferred.await(enough)
          const paused = yield* call(`POST ${what}/pause`, { body: { reason: "stop" } })
          assert.strictEqual(paused.status, 200)
          yield* Fiber.join(asking)
          const { dispatched: dispatches, paused: pauses } = yield* dispatchedAndPaused
          assert.strictEqual(pauses.length, 1)
          // The log itself has no dispatch after the pause.
          assert.isBelow(Math.max(...dispatches), pauses[0] ?? 0)
          assert.isBelow(dispatches.length, 120)
          yield* call(`POST ${what}/resume`)
          // One that comes up against what others are at work on is told to ask again.
          yield* eventually(Effect.map(pickUp({ waitMs: 0 }), ({ _tag }) => _tag === "Dispatch"))
        })
      )
    )
  }

  it.live("puts an item off when its project has as many in hand as it may", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        yield* setUpProject(call, { maxInFlightItems: 2 })
        yield* createMany(call, 5)
        yield* listed(5)
        const given = yield* Effect.all([pickUp(), pickUp(), pickUp(), pickUp()], { concurrency: 4 })
        assert.strictEqual(given.filter(({ _tag }) => _tag === "Dispatch").length, 2)
        const refused = given.find(({ _tag }) => _tag === "Nothing")
        assert.strictEqual(refused?._tag === "Nothing" && refused.why, "budget")
        yield* eventually(Effect.map(eventNames, (names) => names.includes("budget.deferred")))
      })
    )
  )

  it.live("lets a runner wait, and gives it what comes up", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const waiting = yield* Effect.forkChild(
          Effect.all([pickUp({ waitMs: 8_000 }), pickUp({ waitMs: 8_000 })], { concurrency: 2 }),
          {
            startImmediately: true
          }
        )
        const began = performance.now()
        yield* createItem(call)
        yield* createItem(call)
        const given = yield* Fiber.join(waiting)
        assert.isTrue(given.every(({ _tag }) => _tag === "Dispatch"))
        assert.isBelow(performance.now() - began, 6_000)
      })
    )
  )

  it.live("parks what only a paused agent may take, and lets it go on when the agent is resumed", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        yield* call("POST /agents/owl/pause", { body: { reason: "moult" } })
        const { id } = yield* createItem(call, { agent: "owl" })
        const shared = yield* createItem(call, { agent: "birds" })
        yield* listed(2)
        const none = yield* pickUp({ agent: "owl", waitMs: 0 })
        assert.deepStrictEqual(none._tag === "Nothing" && [none.why, none.reason], ["agent-paused", "moult"])
        yield* untilState(call, id, "WaitingForAgentResume")
        assert.strictEqual((yield* itemNow(call, shared.id)).state, "Queued")
        assert.strictEqual((yield* dispatched({ agent: "wren" })).workItem.id, shared.id)
        yield* call("POST /agents/owl/resume")
        yield* untilState(call, id, "Queued")
        assert.strictEqual((yield* dispatched({ agent: "owl" })).workItem.id, id)
      })
    )
  )

  it.live("moves a phase to another member of the class when a quota is used up, and parks it when none is left", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call, { agent: "birds" })
        const first = yield* dispatched({ agent: "owl" })
        const hit = {
          kind: "quota-hit",
          workItemId: id,
          reason: "429",
          toAgent: null,
          toModel: null,
          resetAtMs: (yield* Clock.currentTimeMillis) + 60_000
        }
        yield* publishReport({ ...hit, dispatchId: first.dispatchId })
        yield* eventually(Effect.map(eventNames, (names) => names.includes("agent.fallback")))
        const held = yield* pickUp({ agent: "owl", waitMs: 500 })
        assert.strictEqual(held._tag, "Nothing")
        const second = yield* dispatched({ agent: "wren" })
        assert.strictEqual(second.workItem.id, id)
        yield* publishReport({ ...hit, dispatchId: second.dispatchId })
        yield* untilState(call, id, "WaitingForQuotaReset")
      })
    )
  )

  it.live("gives the findings of the audit to whoever mends them", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const { id } = yield* createItem(call)
        yield* reportSuccess(yield* dispatched())
        const audit = yield* dispatched()
        assert.deepStrictEqual([audit.phase, audit.auditors], ["audit", ["correctness", "security", "tests"]])
        const finding = {
          auditor: "tests",
          severity: "Error",
          title: "Rust",
          location: null,
          description: "It creaks."
        }
        yield* publishReport({
          kind: "audit-ended",
          workItemId: id,
          dispatchId: audit.dispatchId,
          findings: [finding],
          durationMs: 1
        })
        const rework = yield* dispatched()
        assert.deepStrictEqual([rework.phase, rework.iteration, rework.findings], ["rework", 2, [finding]])
      })
    )
  )

  it.live("gives nothing to an agent that is not known, or a host whose disk is full", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        yield* createItem(call)
        yield* listed(1)
        const unknown = yield* pickUp({ agent: "raven" })
        assert.strictEqual(unknown._tag === "Nothing" && unknown.why, "agent-unknown")
        const full = yield* pickUp({ disks: [{ mountPath: "/srv", freeBytes: 10 }] })
        assert.strictEqual(full._tag === "Nothing" && full.why, "disk")
      })
    )
  )
})
