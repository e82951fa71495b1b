import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Schema } from "effect"
import { jsonCodec, Requests } from "#bus"
import { HeldAnswer, HeldQuestion, PickupAnswer, type PickupDispatch, PickupQuestion } from "#pipeline/contract"
import { subjects } from "#base"
import { runRunner } from "../../../dev/runner/runner.ts"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { dispatchOf, reportsOf, runnerOptions } from "../../support/pipeline-dispatch.ts"
import { makeRepositories } from "../../support/pipeline-repository.ts"

const bus = Layer.unwrap(Effect.map(natsServer, (server) => busOn(server))).pipe(Layer.provideMerge(Logger.layer([])))
const repositories = Effect.acquireRelease(Effect.sync(makeRepositories), ({ remove }) => Effect.sync(remove))

const nothing: PickupAnswer = { _tag: "Nothing", retryAfterMs: 10, why: "empty", reason: null }

/** Answers runners as the fleet would: with the result of `give`. */
const desk = Effect.fnUntraced(function* (
  agent: string,
  give: (question: PickupQuestion) => Effect.Effect<PickupAnswer>
) {
  const requests = yield* Requests
  yield* requests.answer({
    subject: subjects.pickupNext(agent),
    queueGroup: "desk",
    question: jsonCodec(PickupQuestion),
    answer: jsonCodec(PickupAnswer),
    concurrency: 16,
    handler: give
  })
})

const given = (dispatch: PickupDispatch, { pickupId }: PickupQuestion): PickupDispatch => ({
  ...dispatch,
  dispatchId: pickupId
})

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A line of an agent's. */
const spent = (costMicroUsd: number) =>
  JSON.stringify({ type: "usage", tokensInput: 1, tokensOutput: 1, tokensCached: 0, costMicroUsd, elapsedMs: 1 })

describe("a runner that polls for work", () => {
  it.layer(bus, { excludeTestServices: true, timeout: "30 seconds" })((it) => {
    it.effect("performs its phase, polls again, and identifies itself", () =>
      Effect.gen(function* () {
        const { folder, make } = yield* repositories
        const work = [dispatchOf(make("one")), dispatchOf(make("two"))]
        const questions: Array<PickupQuestion> = []
        yield* desk("one", (question) =>
          Effect.sync(() => {
            questions.push(question)
            const next = work.shift()
            return next === undefined ? nothing : given(next, question)
          })
        )
        const options = runnerOptions(join(folder, "runner"), { agents: ["one"], name: "me", phases: ["work"] })
        const running = yield* Effect.forkChild(runRunner(options))
        yield* eventually(() => questions.length, { is: (length) => length >= 5 })
        yield* Fiber.interrupt(running)
        assert.strictEqual(new Set(questions.map(({ pickupId }) => pickupId)).size, questions.length)
        const [first, second] = questions
        assert.deepInclude(first, { runner: "me", agent: "one", phases: ["work"], agentInstanceId: null })
        assert.isAbove(first?.disks[0]?.freeBytes ?? 0, 0)
        for (const question of [first, second]) {
          const reports = yield* reportsOf(question?.pickupId ?? "")
          assert.deepStrictEqual(
            reports.map(({ kind }) => kind),
            ["iteration-ended"]
          )
        }
      })
    )

    it.effect("has as many phases in hand at once as configured", () =>
      Effect.gen(function* () {
        const { folder, make } = yield* repositories
        const repository = make("one")
        const asked: Array<string> = []
        yield* desk("three", (question) =>
          Effect.sync(() => {
            asked.push(question.pickupId)
            return given(dispatchOf(repository, { progressEveryMs: 50 }), question)
          })
        )
        const options = runnerOptions(join(folder, "runner"), { agents: ["three"], atOnce: 3, work: "sleep 30" })
        const running = yield* Effect.forkChild(runRunner(options))
        yield* eventually(() => asked.length, { is: (length) => length >= 3 })
        for (const id of asked) yield* eventually(reportsOf(id), { is: (reports) => reports.length >= 3 })
        assert.strictEqual(asked.length, 3)
        yield* Fiber.interrupt(running)
      })
    )

    it.effect("polls with the same id again when it could not read the answer", () =>
      Effect.gen(function* () {
        const { folder } = yield* repositories
        const ids: Array<string> = []
        const requests = yield* Requests
        yield* requests.answer({
          subject: subjects.pickupNext("late"),
          queueGroup: "desk",
          question: jsonCodec(PickupQuestion),
          answer: jsonCodec(Schema.Unknown),
          concurrency: 1,
          handler: ({ pickupId }) => Effect.sync(() => (ids.push(pickupId) === 1 ? "broken" : nothing))
        })
        const running = yield* Effect.forkChild(runRunner(runnerOptions(join(folder, "runner"), { agents: ["late"] })))
        yield* eventually(() => ids.length, { is: (length) => length >= 3 })
        yield* Fiber.interrupt(running)
        assert.strictEqual(ids[1], ids[0])
        assert.notStrictEqual(ids[2], ids[1])
      })
    )

    it.effect("stops a phase that it no longer owns, reports only its cost, and polls again", () =>
      Effect.gen(function* () {
        const { folder, make } = yield* repositories
        const work = [dispatchOf(make("one"), { progressEveryMs: 40 })]
        const asked: Array<string> = []
        yield* desk("cancelled", (question) =>
          Effect.sync(() => {
            asked.push(question.pickupId)
            const next = work.shift()
            return next === undefined ? nothing : given(next, question)
          })
        )
        const place = join(folder, "pid")
        const doubts: Array<string> = []
        yield* (yield* Requests).answer({
          subject: subjects.pickupHeld,
          queueGroup: "desk",
          question: jsonCodec(HeldQuestion),
          answer: jsonCodec(HeldAnswer),
          concurrency: 1,
          handler: ({ dispatchId }) =>
            Effect.sync((): HeldAnswer => {
              const times = doubts.push(dispatchId)
              if (times === 1) return { _tag: "Busy", retryAfterMs: 1 }
              // Once its agent is at work, and not before.
              return !existsSync(place) ? { _tag: "Held" } : { _tag: "Over", state: "Cancelled" }
            })
        })
        const options = runnerOptions(join(folder, "runner"), {
          agents: ["cancelled"],
          work: `echo '${spent(700)}'; echo $$ > ${place}.new; mv ${place}.new ${place}; exec sleep 60`
        })
        const running = yield* Effect.forkChild(runRunner(options))
        yield* eventually(() => asked.length, { is: (length) => length >= 2 })
        yield* Fiber.interrupt(running)
        const reports = yield* reportsOf(asked[0] ?? "")
        assert.deepStrictEqual([...new Set(reports.map(({ kind }) => kind))], ["progress"])
        assert.deepStrictEqual(
          reports.flatMap((report) => (report.kind === "progress" && report.usage ? [report.usage.costMicroUsd] : [])),
          [700]
        )
        assert.deepStrictEqual(new Set(doubts), new Set([asked[0]]))
        assert.isFalse(isRunning(Number(readFileSync(place, "utf8"))))
      })
    )

    it.effect("hands back a phase that arrives in the moment of its stop", () =>
      Effect.gen(function* () {
        const { folder, make } = yield* repositories
        const dispatch = dispatchOf(make("one"))
        const isAsked = yield* Deferred.make<string>()
        const isStopped = yield* Deferred.make<void>()
        yield* desk("stopped", (question) =>
          Deferred.succeed(isAsked, question.pickupId).pipe(
            Effect.andThen(Deferred.await(isStopped)),
            Effect.as(given(dispatch, question))
          )
        )
        const options = runnerOptions(join(folder, "runner"), { agents: ["stopped"] })
        const running = yield* Effect.forkChild(runRunner(options))
        const pickupId = yield* Deferred.await(isAsked)
        const stopping = yield* Effect.forkChild(Fiber.interrupt(running))
        yield* Effect.sleep("50 millis")
        yield* Deferred.succeed(isStopped, undefined)
        yield* Fiber.join(stopping)
        assert.deepStrictEqual(
          (yield* reportsOf(pickupId)).map(({ kind }) => kind),
          ["preempted"]
        )
      })
    )
  })
})
