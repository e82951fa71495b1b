import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import type { PickupNothing, PickupQuestion } from "#pipeline/contract"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  type Call,
  createItem,
  dispatched,
  eventNames,
  itemNow,
  metricsText,
  pickUp,
  projectId,
  publishReport,
  reportSuccess,
  setUpProject,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"
import { createMany, dispatchedAndPaused, listed } from "./asked-at-once.ts"

/** The only agent that may take it asks for work, and is paused. */
const untilParked = (call: Call, id: string) =>
  eventually(
    Effect.andThen(
      pickUp({ agent: "owl", waitMs: 0 }),
      Effect.map(itemNow(call, id), ({ state }) => state === "WaitingForAgentResume")
    )
  )

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
          // A request that collides with others is told to ask again.
          yield* eventually(pickUp({ waitMs: 0 }), { is: ({ _tag }) => _tag === "Dispatch" })
        })
      )
    )
  }

  it.live("defers an item when its project has reached its cap in flight", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        yield* setUpProject(call, { maxInFlightItems: 2 })
        yield* createMany(call, 5)
        yield* listed(5)
        const given = yield* Effect.all([pickUp(), pickUp(), pickUp(), pickUp()], { concurrency: 4 })
        assert.strictEqual(given.filter(({ _tag }) => _tag === "Dispatch").length, 2)
        const refused = given.find(({ _tag }) => _tag === "Nothing")
        assert.strictEqual(refused?._tag === "Nothing" && refused.why, "budget")
        yield* eventually(eventNames, { is: (names) => names.includes("budget.deferred") })
      })
    )
  )

  it.live("lets a runner wait, and gives it the next work", () =>
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

  it.live("sees an answered resume of the queue, an agent, a project or an item at once", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        let waitMs = 0
        const operate = (verb: string, body?: object) =>
          Effect.map(call(`POST ${verb}`, { body }), ({ status }) => assert.strictEqual(status, 200, verb))
        const nothing = (why: PickupNothing["why"], changes: Partial<PickupQuestion> = {}) =>
          Effect.map(pickUp({ waitMs: 0, ...changes }), (none) =>
            assert.strictEqual(none._tag === "Nothing" && none.why, why)
          )
        const givenAtOnce = (id: string, changes: Partial<PickupQuestion> = {}) =>
          Effect.map(pickUp({ waitMs, ...changes }), (given) =>
            assert.strictEqual(given._tag === "Dispatch" ? given.workItem.id : given.why, id)
          )
        // Each more than once: the views may happen to be quick.
        for (waitMs of [0, 5_000, 0]) {
          for (const what of ["/queue", `/projects/${projectId}/queue`]) {
            const { id } = yield* createItem(call)
            yield* operate(`${what}/pause`, { reason: "stop" })
            yield* nothing(what === "/queue" ? "queue-paused" : "project-paused")
            yield* operate(`${what}/resume`)
            yield* givenAtOnce(id)
          }
          const parked = yield* createItem(call, { agent: "owl" })
          yield* operate("/agents/owl/pause", { reason: "moult" })
          yield* untilParked(call, parked.id)
          yield* operate("/agents/owl/resume")
          yield* givenAtOnce(parked.id, { agent: "owl" })

          const cancelled = yield* createItem(call)
          assert.strictEqual((yield* call(`DELETE /workitems/${cancelled.id}`)).status, 200)
          yield* nothing("empty")
          yield* operate(`/workitems/${cancelled.id}/resume`)
          yield* givenAtOnce(cancelled.id)
        }
      })
    )
  )

  for (const [what, why] of [
    ["/queue", "queue-paused"],
    // Its own work is parked meanwhile, and then there is none for it.
    ["/agents/smith", "empty"],
    [`/projects/${projectId}/queue`, "project-paused"]
  ] as const) {
    it.live(`lets a runner wait through a pause, and gives it work when that is resumed: ${what}`, () =>
      withPipeline((call) =>
        Effect.gen(function* () {
          yield* call(`POST ${what}/pause`, { body: { reason: "stop" } })
          const { id } = yield* createItem(call)
          const began = performance.now()
          const none = yield* pickUp({ waitMs: 2_500 })
          assert.strictEqual(none._tag === "Nothing" && none.why, why)
          assert.isAtLeast(performance.now() - began, 2_490)

          const waiting = yield* Effect.forkChild(pickUp({ waitMs: 9_000 }), { startImmediately: true })
          yield* eventually(metricsText, { is: (text) => /^pipeline_pickup_waiters\S* 1$/mu.test(text) })
          const resumed = performance.now()
          yield* call(`POST ${what}/resume`)
          const given = yield* Fiber.join(waiting)
          assert.strictEqual(given._tag === "Dispatch" && given.workItem.id, id)
          assert.isBelow(performance.now() - resumed, 4_000)
        })
      )
    )
  }

  it.live("gives a waiting runner its work when its agent's pause ends", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        yield* call("POST /agents/owl/pause", { body: { reason: "moult", expiresInSeconds: 2 } })
        const { id } = yield* createItem(call, { agent: "birds" })
        const given = yield* pickUp({ agent: "owl", waitMs: 9_000 })
        assert.strictEqual(given._tag === "Dispatch" && given.workItem.id, id)
      })
    )
  )

  it.live("parks work for a paused agent alone, and continues it when the agent is resumed", () =>
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
        yield* eventually(eventNames, { is: (names) => names.includes("agent.fallback") })
        const held = yield* pickUp({ agent: "owl", waitMs: 500 })
        assert.strictEqual(held._tag, "Nothing")
        const second = yield* dispatched({ agent: "wren" })
        assert.strictEqual(second.workItem.id, id)
        yield* publishReport({ ...hit, dispatchId: second.dispatchId })
        yield* untilState(call, id, "WaitingForQuotaReset")
      })
    )
  )

  it.live("gives the audit's findings to the runner that fixes them", () =>
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

  it.live("gives nothing to an unknown agent, or a host whose disk is full", () =>
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
