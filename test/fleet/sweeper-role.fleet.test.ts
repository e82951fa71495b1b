import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { jsonCodec, Requests } from "#bus"
import { CommandAnswer, type CommandEntity, CommandRequest, projectSettingsDefault } from "#pipeline/contract"
import { subjects } from "#base"
import { busOn, natsServer } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { openPipelineBus } from "../support/pipeline-bus.ts"
import { endRoles, startRole } from "../support/role.ts"
import { creation } from "../libs/pipeline/work-item/item-at-work.ts"
import { uuid } from "../services/sweeper/rows.ts"

const started = Effect.fnUntraced(function* (name: string, server: TestNatsServer, sections: object = {}) {
  const configuration = { Bus: { Url: server.url }, PipelineApi: { Port: 0 }, ...sections }
  const role = yield* Effect.promise(() => startRole(name, { configuration }))
  const isReady = Effect.map(
    Effect.promise(() => role.status("/readyz")),
    (status) => status === 200
  )
  yield* eventually(isReady)
  return role
})

const ended = Effect.addFinalizer(() => Effect.promise(() => endRoles()))

const question = jsonCodec(CommandRequest)
const answer = jsonCodec(CommandAnswer)
let commands = 0

const ask = Effect.fnUntraced(function* (entity: CommandEntity, id: string, command: Record<string, unknown>) {
  const request = { commandId: `test ${(commands += 1)}`, id, command }
  const options = { subject: subjects.commands(entity), question, answer, timeoutMs: 5_000 }
  const answered = yield* (yield* Requests).ask(options, request)
  assert.strictEqual(answered._tag, "Accepted", JSON.stringify(answered))
})

describe("the role sweeper", () => {
  it.live("takes every sweep, counts it in its metrics, and drains in order", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* ended
      const role = yield* started("sweeper", server)
      const isSo = (pattern: RegExp, count: number) =>
        Effect.map(
          Effect.promise(() => role.metrics()),
          (text) => text.split("\n").filter((line) => pattern.test(line)).length === count
        )
      yield* eventually(isSo(/^sweeper_held\{.*\} 1$/u, 12))
      // No actor answers commands here, and no entity exists.
      yield* eventually(isSo(/^sweeper_run_seconds_count\{role="sweeper",sweep="budget"\} 1$/u, 1))
      role.signal("SIGTERM")
      assert.strictEqual(yield* Effect.promise(() => role.ended), 0)
      const complaints = role.log().filter(({ level }) => level === "ERROR" || level === "WARN")
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped)
  )

  it.live("takes a project through its budget, and repeats its event after a kill", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* ended
      const bus = yield* Effect.acquireRelease(
        Effect.promise(() => openPipelineBus(server)),
        ({ close }) => Effect.promise(close)
      )
      const told = Effect.map(
        Effect.promise(() => bus.read("EVENTS", "events.project.*")),
        (events) => events.map(({ subject }) => subject.replace("events.project.", ""))
      )
      const become = (names: ReadonlyArray<string>) =>
        eventually(told, { is: (events) => events.join() === names.join() })
      const spend = (costMicroUsd: number) =>
        Effect.promise(() =>
          bus.report("progress", {
            workItemId: uuid(1),
            dispatchId: "d1",
            usage: { tokensInput: 1, tokensOutput: 1, tokensCached: 0, costMicroUsd, elapsedMs: 1 }
          })
        )
      yield* started("pipeline-api", server)
      const sections = { Sweeper: { BudgetSeconds: 0.3 } }
      const first = yield* started("sweeper", server, sections)
      yield* Effect.gen(function* () {
        const { settings, ...item } = creation()
        const project = { ...projectSettingsDefault, ...item.project, budgetMicroUsd: 100_000_000 }
        const { id: _id, ...projectSettings } = project
        yield* ask("project", "garden", { _tag: "Create", settings: projectSettings })
        yield* ask("workitem", uuid(1), { ...item, settings })
        const dispatch = { dispatchId: "d1", phase: "work", agent: "smith", model: null, agentInstanceId: null }
        const rest = { runner: "forge-1", sandboxId: null, auditors: [], settings }
        yield* ask("workitem", uuid(1), { _tag: "Dispatch", ...dispatch, ...rest })
      }).pipe(Effect.provide(busOn(server)))

      yield* spend(85_000_000)
      yield* become(["budget_warning"])
      yield* spend(15_000_000)
      yield* become(["budget_warning", "budget_exceeded", "queue_paused"])

      first.signal("SIGKILL")
      yield* Effect.promise(() => first.ended)
      yield* started("sweeper", server, sections)
      yield* become(["budget_warning", "budget_exceeded", "queue_paused", "budget_exceeded"])
    }).pipe(Effect.scoped)
  )
})
