import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { Actors, entityProjection, projectViews } from "#actors"
import { Publisher, Rejections, StreamReader } from "#bus"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Drain, Health } from "#runtime"
import { agent, agentProjection } from "#pipeline"
import { FollowUpCommands, FollowUps } from "../../../services/pipeline-api/follow-ups/FollowUps.ts"
import { ReportIntake } from "../../../services/pipeline-api/reports/ReportIntake.ts"
import { Reports } from "../../../services/pipeline-api/reports/Reports.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { publishReport } from "../../support/pipeline.ts"

const projections = [entityProjection(agentProjection)]

// A machine that has other work to do may be late with a look, of which there are six.
const stallMs = 1_500

const isAlive = Effect.flatMap(Health, ({ live }) => Effect.map(live, ({ ok }) => ok))
const isStuck = Effect.map(isAlive, (is) => !is)

/** For some stalls together, the process is alive at every look. */
const staysAlive = Effect.gen(function* () {
  const endsAt = performance.now() + 2 * stallMs
  yield* eventually(isAlive, {
    is: (is) => {
      assert.isTrue(is)
      return performance.now() > endsAt
    }
  })
})

const onBus = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const server = yield* natsServer
    const around = Layer.mergeAll(Drain.layer, Configuration.layerOf({}))
    return yield* Effect.scoped(test).pipe(Effect.provide(Layer.provideMerge(around, busOn(server))))
  })

const recheck = () =>
  publishReport({
    kind: "recheck-completed",
    workItemId: randomUUID(),
    iteration: 1,
    answer: "yes",
    actionableAnswer: "no"
  })

describe("the loop of reports", () => {
  it.live("is alive while it waits for reports, and stuck while one never ends", () =>
    onBus(
      Effect.gen(function* () {
        const goOn = yield* Deferred.make<void>()
        const carryOut = () => Effect.as(Deferred.await(goOn), "ignored" as const)
        yield* Layer.build(ReportIntake.layer("one", stallMs).pipe(Layer.provide(Layer.succeed(Reports, { carryOut }))))
        yield* staysAlive

        yield* recheck()
        yield* eventually(isStuck)

        yield* Deferred.succeed(goOn, undefined)
        yield* eventually(isAlive)
        yield* eventually((yield* StreamReader).bounds("REPORTS"), { is: ({ messages }) => messages === 0 })
      })
    )
  )

  it.live("is alive when another replica has the reports", () =>
    onBus(
      Effect.gen(function* () {
        const here = Layer.succeed(Reports, { carryOut: () => Effect.succeed("ignored" as const) })
        yield* Layer.build(ReportIntake.layer("one", 30_000).pipe(Layer.provide(here)))
        yield* recheck()
        yield* eventually((yield* StreamReader).bounds("REPORTS"), { is: ({ messages }) => messages === 0 })

        // It asks for the lease each second.
        yield* Layer.build(ReportIntake.layer("two", 3 * stallMs).pipe(Layer.provide(here)))
        yield* staysAlive
      })
    )
  )
})

describe("the loop of follow-ups", () => {
  it.live("is alive at the log's end, and stuck while a record never ends", () =>
    onBus(
      Effect.gen(function* () {
        const goOn = yield* Deferred.make<void>()
        const followUpCommands = Layer.succeed(FollowUpCommands, { carryOut: () => Deferred.await(goOn) })
        yield* Layer.build(FollowUps.layer("one", stallMs).pipe(Layer.provide(followUpCommands)))
        yield* staysAlive

        yield* resumeAnAgent
        yield* eventually(isStuck)

        yield* Deferred.succeed(goOn, undefined)
        yield* eventually(isAlive)
        yield* staysAlive
      })
    )
  )
})

describe("the loop of views", () => {
  it.live("is alive at the log's end, and stuck while a record never ends", () =>
    onBus(
      Effect.gen(function* () {
        const goOn = yield* Deferred.make<void>()
        const stuck = Layer.succeed(
          Rejections,
          Rejections.of({ reject: () => Deferred.await(goOn), reportable: (faults) => faults })
        )
        const projecting = yield* Effect.provide(projectViews({ holder: "one", projections, stallMs }), stuck)
        yield* Effect.forkScoped(projecting)
        yield* staysAlive

        yield* resumeAnAgent
        yield* staysAlive
        yield* (yield* Publisher).publishRaw(subjects.log("agent", "owl"), new TextEncoder().encode("{}"))
        yield* eventually(isStuck)

        yield* Deferred.succeed(goOn, undefined)
        yield* eventually(isAlive)
        yield* staysAlive
      })
    )
  )

  it.live("is alive when another replica keeps the views", () =>
    onBus(
      Effect.gen(function* () {
        const first = yield* projectViews({ holder: "one", projections })
        yield* Effect.forkScoped(first)
        yield* resumeAnAgent
        // It asks for the lease each second.
        const second = yield* projectViews({ holder: "two", projections, stallMs: 3 * stallMs })
        yield* Effect.forkScoped(second)
        yield* staysAlive
      })
    )
  )
})

/** Items that wait for an agent go on when it is resumed. */
const resumeAnAgent = Effect.gen(function* () {
  const { run } = yield* Actors
  const by = { reason: "moult", pausedBy: "keeper", expiresAtMs: null }
  yield* run(agent, { id: "owl", commandId: "1" }, { _tag: "Pause", ...by })
  yield* run(agent, { id: "owl", commandId: "2" }, { _tag: "Resume", reason: null, resumedBy: "keeper" })
}).pipe(Effect.provide(Actors.layer))
