import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { caller, createItem, pipelineOn, reportSuccess, setUpProject, untilState } from "../../../support/pipeline.ts"
import { askers, createMany, dispatchedAndPaused, isBusy, listed, pickUpOnce } from "./asked-at-once.ts"

describe("pickup of several processes", () => {
  it.live("gives no item to two runners, however many ask two processes at once", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        yield* createMany(call, 40)
        yield* listed(40)
        const other = Effect.provide(
          Effect.gen(function* () {
            yield* listed(1)
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

  it.live("gives the same work to a repeated request, over two processes, and nothing once it is over", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.gen(function* () {
        const call = yield* caller
        yield* setUpProject(call)
        yield* createMany(call, 60)
        yield* listed(60)
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
            yield* listed(60)
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

  it.live("keeps every project within its cap in flight, over two processes", () =>
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
        yield* listed(24)
        const asked = Effect.forEach(Array.from({ length: 12 }, () => agents).flat(), (agent) => askers(1, { agent }), {
          concurrency: "unbounded"
        })
        // Both have seen all of it before the first request, and share the requests.
        const given = yield* Effect.provide(
          Effect.gen(function* () {
            yield* listed(24)
            return yield* asked
          }),
          pipelineOn(server)
        )
        const inHand = given.flat(1).flatMap((one) => (one._tag === "Dispatch" ? [one.workItem.projectId] : []))
        assert.deepStrictEqual(inHand.toSorted(), projects)
      }).pipe(Effect.provide(pipelineOn(server)))
    })
  )
})
