import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { Actors } from "#actors"
import { Kv, Publisher, StreamReader } from "#bus"
import { hourOf, projectSettingsDefault, SpendEntry, spendKey, spentMicroUsd } from "#pipeline/contract"
import { subjects } from "#base"
import { project } from "#pipeline"
import { budgetSweep, openSpendLedger } from "../../../services/sweeper/spend-ledger.ts"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { standingAt } from "../../support/clock.ts"
import { diceOf } from "../../support/random-ssml.ts"
import { eventsOf, inProcess, rowOf, serveActors } from "./actors-at-work.ts"
import { hourMs, present } from "./rows.ts"

const microUsd = 1_000_000
let items = 0

/** A record as an item's actor leaves it, of that time. */
const usageRecord = (projectId: string, costMicroUsd: number, atMs: number) => ({
  commandId: "c",
  atMs,
  events: [],
  facts: [
    {
      _tag: "UsageAdded",
      projectId,
      iteration: 1,
      tokensInput: 1,
      tokensOutput: 1,
      tokensReasoning: 0,
      tokensCached: 0,
      costMicroUsd,
      elapsedMs: 1
    }
  ],
  state: null,
  stateVersion: 1,
  recentCommands: [],
  isRetired: false
})

const spend = Effect.fnUntraced(function* (projectId: string, costMicroUsd: number, atMs: number) {
  items += 1
  const data = new TextEncoder().encode(JSON.stringify(usageRecord(projectId, costMicroUsd, atMs)))
  yield* (yield* Publisher).publishRaw(subjects.log("workitem", `i${items}`), data)
})

const createProject = (id: string) =>
  Effect.flatMap(Actors, (actors) =>
    actors.run(
      project,
      { id, commandId: "create" },
      {
        _tag: "Create",
        settings: {
          ...projectSettingsDefault,
          displayName: id,
          repositoryUrl: "https://git.example/x.git",
          budgetMicroUsd: 100 * microUsd
        }
      }
    )
  )

/** Runs the sweep as a process of that run does, until it has run so often. */
const sweeper = Effect.fnUntraced(function* (epoch: string) {
  const sweep = yield* budgetSweep({ epoch })
  return yield* sweep.begin
})

const budgetEvents = (id: string) =>
  Effect.map(eventsOf("project", id), (events) => events.map(({ event }) => event.replace("project.", "")))

describe("the budget of a project", () => {
  it.live("goes through its bands as costs come in, pauses its queue, and is reported again after a restart", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const nowMs = present()
      const serving = inProcess(server, {}, Effect.andThen(serveActors, Effect.never))
      yield* Effect.forkScoped(serving)
      const shown = eventually(rowOf("project", "garden"), { is: (row) => row !== undefined })
      yield* inProcess(
        server,
        {},
        Effect.gen(function* () {
          yield* createProject("garden")
          yield* shown
          const sweep = yield* sweeper("run 1")
          yield* sweep
          assert.deepStrictEqual(yield* budgetEvents("garden"), [])
          yield* spend("garden", 80 * microUsd, nowMs)
          yield* sweep
          yield* sweep
          assert.deepStrictEqual(yield* budgetEvents("garden"), ["budget_warning"])
          yield* spend("garden", 20 * microUsd, nowMs)
          yield* sweep
          assert.deepStrictEqual(yield* budgetEvents("garden"), ["budget_warning", "budget_exceeded", "queue_paused"])
        })
      )
      yield* inProcess(
        server,
        {},
        Effect.gen(function* () {
          yield* shown
          const sweep = yield* sweeper("run 2")
          yield* sweep
          yield* sweep
          const events = yield* budgetEvents("garden")
          assert.deepStrictEqual(events.slice(3), ["budget_exceeded"])
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("recovers when the spend is thirty days old", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* Effect.forkScoped(inProcess(server, {}, Effect.andThen(serveActors, Effect.never)))
      yield* inProcess(
        server,
        {},
        Effect.gen(function* () {
          yield* createProject("garden")
          yield* eventually(rowOf("project", "garden"), { is: (row) => row !== undefined })
          const presentMs = hourOf(present()) * hourMs
          const [inThisHour, inTheNext] = [standingAt(presentMs), standingAt(presentMs + hourMs)]
          yield* spend("garden", 120 * microUsd, presentMs - 720 * hourMs)
          const sweep = yield* sweeper("run 1")
          yield* inThisHour(sweep)
          const exceeded = ["budget_exceeded", "queue_paused"]
          assert.deepStrictEqual(yield* budgetEvents("garden"), exceeded)
          yield* inTheNext(sweep)
          assert.deepStrictEqual(yield* budgetEvents("garden"), [...exceeded, "budget_recovered", "queue_resumed"])
        })
      )
    }).pipe(Effect.scoped)
  )
})

describe("the spend ledger", () => {
  it.live("is the same to the micro-dollar when it is continued, loaded from its copy, or rebuilt", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* inProcess(
        server,
        {},
        Effect.gen(function* () {
          const dice = diceOf(20_261_121)
          const nowMs = present()
          const paid: Array<{ projectId: string; costMicroUsd: number; atMs: number }> = []
          const pay = Effect.fnUntraced(function* (count: number) {
            for (let one = 0; one < count; one++) {
              const record = {
                projectId: dice.of(["garden", "attic", "a project / with : signs"]),
                costMicroUsd: dice.below(2_000_000_000),
                atMs: nowMs - dice.below(760) * hourMs
              }
              paid.push(record)
              yield* spend(record.projectId, record.costMicroUsd, record.atMs)
            }
          })
          const expected = (projectId: string) =>
            spentMicroUsd(
              paid.filter((one) => one.projectId === projectId).map((one) => [hourOf(one.atMs), one.costMicroUsd]),
              nowMs
            )
          const check = (book: { spentBy: (id: string, nowMs: number) => number }) => {
            for (const id of ["garden", "attic", "a project / with : signs"]) {
              assert.strictEqual(book.spentBy(id, nowMs), expected(id))
            }
          }
          const ledger = yield* openSpendLedger()
          yield* pay(300)
          yield* ledger.catchUp(nowMs)
          yield* pay(200)
          yield* ledger.catchUp(nowMs)
          check(ledger.book)
          yield* pay(50)
          const after = yield* openSpendLedger()
          yield* after.catchUp(nowMs)
          check(after.book)
          const reader = yield* StreamReader
          yield* reader.purge("KV_spend", "$KV.spend.>")
          const anew = yield* openSpendLedger()
          yield* anew.catchUp(nowMs)
          check(anew.book)
          const stored = yield* (yield* Kv).open("spend", SpendEntry)
          const garden = Option.getOrThrow(yield* stored.get(spendKey("garden"))).value
          assert.strictEqual(garden._tag === "ProjectSpend" && spentMicroUsd(garden.hours, nowMs), expected("garden"))
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("of two simultaneous counters is stored by one, and the other begins again", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* inProcess(
        server,
        {},
        Effect.gen(function* () {
          const nowMs = present()
          const [one, other] = [yield* openSpendLedger(), yield* openSpendLedger()]
          yield* spend("garden", 5, nowMs)
          yield* one.catchUp(nowMs)
          const lost = yield* Effect.flip(other.catchUp(nowMs))
          assert.strictEqual(lost._tag, "RevisionConflict")
          const again = yield* openSpendLedger()
          yield* again.catchUp(nowMs)
          assert.strictEqual(again.book.spentBy("garden", nowMs), 5)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("puts an unreadable record into REJECTED, and still counts the next ones", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      yield* inProcess(
        server,
        {},
        Effect.gen(function* () {
          const nowMs = present()
          const broken = new TextEncoder().encode('{"facts":[{"_tag":"UsageAdded"}]}')
          yield* (yield* Publisher).publishRaw(subjects.log("workitem", "broken"), broken)
          yield* spend("garden", 7, nowMs)
          const ledger = yield* openSpendLedger()
          yield* ledger.catchUp(nowMs)
          assert.strictEqual(ledger.book.spentBy("garden", nowMs), 7)
          const reader = yield* StreamReader
          const rejected = yield* Stream.runCollect(reader.range("REJECTED", { fromSequence: 1, toSequence: 10 }))
          assert.strictEqual(rejected.length, 1)
        })
      )
    }).pipe(Effect.scoped)
  )
})
