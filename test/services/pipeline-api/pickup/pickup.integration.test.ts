import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Stream } from "effect"
import { StreamReader } from "#bus"
import type { PickupQuestion } from "#contracts"
import { eventually, natsServer } from "../../../support/bus.ts"
import {
  type Call,
  caller,
  createItem,
  dispatched,
  eventNames,
  itemNow,
  metricsText,
  pickUp,
  pipelineOn,
  projectId,
  publishReport,
  reportSuccess,
  setUpProject,
  untilState,
  withPipeline
} from "../../../support/pipeline.ts"

const createMany = (call: Call, count: number, changes = {}) =>
  Effect.forEach(Array.from({ length: count }), (_, n) => createItem(call, { title: `item ${n}`, ...changes }), {
    concurrency: 8
  })

/** Pickup knows of so many ready items. */
const listed = (_call: Call, count: number) =>
  eventually(
    Effect.map(metricsText, (text) => {
      const gauges = text.split("\n").filter((line) => line.startsWith("pipeline_ready_items{"))
      return gauges.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0) >= count
    })
  )

/** Sequences of LOG at which an item was dispatched, and at which something was paused. */
const dispatchedAndPaused = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence: toSequence } = yield* reader.bounds("LOG")
  const records = yield* Stream.runCollect(reader.range("LOG", { fromSequence: 1, toSequence }))
  const tags = records.map(({ sequence, data }) => {
    const { facts = [] } = JSON.parse(new TextDecoder().decode(data)) as { facts?: ReadonlyArray<{ _tag: string }> }
    return { sequence, tags: facts.map(({ _tag }) => _tag) }
  })
  const of = (...wanted: ReadonlyArray<string>) =>
    tags.filter(({ tags }) => tags.some((tag) => wanted.includes(tag))).map(({ sequence }) => sequence)
  return { dispatched: of("Dispatched"), paused: of("Paused", "PausedManually") }
})

describe("pickup", () => {
  it.live("gives out by priority and then by age, and each phase once", () =>
    withPipeline((call) =>
      Effect.gen(function* () {
        const low = yield* createItem(call, { priority: 1 })
        const first = yield* createItem(call)
        const second = yield* createItem(call)
        const urgent = yield* createItem(call, { priority: 9 })
        yield* listed(call, 4)
        const given = []
        for (let n = 0; n < 4; n++) given.push((yield* dispatched()).workItem.id)
        assert.deepStrictEqual(given, [urgent.id, first.id, second.id, low.id])
        const none = yield* pickUp({ waitMs: 0 })
        assert.strictEqual(none._tag === "Nothing" && none.why, "empty")
      })
    )
  )

  it.live("gives no item to two runners, however many ask at once of two processes", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        yield* createMany(call, 40)
        yield* listed(call, 40)
        const other = Effect.provide(
          Effect.gen(function* () {
            yield* listed(yield* caller, 1)
            return yield* askers(30)
          }),
          pipelineOn(server)
        )
        const given = yield* Effect.all([askers(30), other], { concurrency: 2 })
        const items = given.flat().flatMap((one) => (one._tag === "Dispatch" ? [one.workItem.id] : []))
        assert.strictEqual(new Set(items).size, items.length)
        assert.strictEqual(items.length, 40)
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )

  it.live("gives the same thing to who asks again, over two processes, and nothing once it is over", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        yield* createMany(call, 60)
        yield* listed(call, 60)
        // Two processes share the questions, and a runner that heard nothing asks again at once.
        const twice = (pickupId: string) =>
          Effect.all(
            Array.from({ length: 3 }, () => Effect.repeat(pickUpOnce(pickupId), { while: isBusy, times: 200 })),
            { concurrency: "unbounded" }
          )
        const asked = Effect.forEach(
          Array.from({ length: 20 }, () => randomUUID()),
          twice,
          { concurrency: 10 }
        )
        const given = yield* Effect.provide(
          Effect.gen(function* () {
            yield* listed(yield* caller, 60)
            return yield* asked
          }),
          pipelineOn(server)
        )
        for (const answers of given) {
          const items = answers.map((answer) => (answer._tag === "Dispatch" ? answer.workItem.id : answer.why))
          assert.strictEqual(new Set(items).size, 1, items.join(" "))
        }
        const { dispatched: dispatches } = yield* dispatchedAndPaused
        assert.strictEqual(dispatches.length, 20)

        const [[one] = []] = given
        if (one?._tag !== "Dispatch") return assert.fail("nothing was given")
        yield* reportSuccess(one)
        yield* untilState(call, one.workItem.id, "WorkComplete")
        const late = yield* pickUpOnce(one.dispatchId)
        assert.strictEqual(late._tag === "Nothing" && late.why, "over")
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )

  it.live("lets no project have more in hand than it may, over two processes", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        // Items of different agents, so that the processes are not after the same ones.
        const agents = ["smith", "owl", "wren"]
        const projects = Array.from({ length: 8 }, (_, n) => `capped-${n}`)
        for (const project of projects) {
          yield* setUpProject(call, { maxInFlightItems: 1 }, project)
          for (const agent of agents) yield* createItem(call, { agent, projectId: project })
        }
        yield* listed(call, 24)
        const asked = Effect.forEach(Array.from({ length: 12 }, () => agents).flat(), (agent) => askers(1, { agent }), {
          concurrency: "unbounded"
        })
        // Both have seen all of it before anybody asks, and share the questions.
        const given = yield* Effect.provide(
          Effect.gen(function* () {
            yield* listed(yield* caller, 24)
            return yield* asked
          }),
          pipelineOn(server)
        )
        const inHand = given.flat(1).flatMap((one) => (one._tag === "Dispatch" ? [one.workItem.projectId] : []))
        assert.deepStrictEqual(inHand.toSorted(), projects)
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )

  for (const what of ["/queue", "/agents/smith", `/projects/${projectId}/queue`]) {
    it.live(`gives nothing out once a pause is answered: ${what}`, () =>
      withPipeline((call) =>
        Effect.gen(function* () {
          yield* createMany(call, 120)
          yield* listed(call, 120)
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
        yield* listed(call, 5)
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
        yield* listed(call, 2)
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
        yield* listed(call, 1)
        const unknown = yield* pickUp({ agent: "raven" })
        assert.strictEqual(unknown._tag === "Nothing" && unknown.why, "agent-unknown")
        const full = yield* pickUp({ disks: [{ mountPath: "/srv", freeBytes: 10 }] })
        assert.strictEqual(full._tag === "Nothing" && full.why, "disk")
      })
    )
  )
})

const isBusy = (given: { readonly _tag: string; readonly why?: string }) =>
  given._tag === "Nothing" && given.why === "busy"

const pickUpOnce = (pickupId: string) => Effect.suspend(() => pickUp({ pickupId, waitMs: 0 }))

/** So many runners at once, each until it is given something or there is nothing. */
function askers(count: number, changes: Partial<PickupQuestion> = {}) {
  return Effect.all(
    Array.from({ length: count }, (_, n) =>
      Effect.repeat(
        Effect.suspend(() => pickUp({ runner: `runner-${n}`, waitMs: 0, ...changes })),
        { while: isBusy, times: 200 }
      )
    ),
    { concurrency: "unbounded" }
  )
}
