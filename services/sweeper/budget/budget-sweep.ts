/**
 * The budget sweep: counts what was spent, and tells the projects that have a budget. Their actors say where that
 * stands, pause and resume their queues, and tell of it.
 */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import type { Kv, Rejections, StreamReader } from "#bus"
import { Configuration, Metrics } from "#runtime"
import { Commander, findingsOf, type Sent } from "../Commander.ts"
import { spendPosition } from "../metrics.ts"
import type { Run, Sweep } from "../sweep.ts"
import { openSpendLedger, type SpendLedger } from "./SpendLedger.ts"
import { spendCommands, type Told } from "./spend-plan.ts"

export const budgetSweep = Effect.fnUntraced(function* ({
  epoch
}: Run): Effect.fn.Return<Sweep, never, Commander | Configuration | Kv | Metrics | Rejections | StreamReader | Views> {
  const { Sweeper } = yield* Configuration
  const commander = yield* Commander
  const views = yield* Views
  const position = (yield* Metrics).gauge(spendPosition)
  const open = Effect.provideContext(openSpendLedger(), yield* Effect.context<Kv | StreamReader | Rejections>())

  const begin = Effect.sync(() => {
    let ledger: SpendLedger | undefined
    const told = new Map<string, Told>()
    let turn = 0

    const countUp = Effect.fnUntraced(function* (nowMs: number) {
      const counting = (ledger ??= yield* open)
      position.set({}, yield* counting.catchUp(nowMs))
      return counting.book
    })
    const remember = ({ planned, answer }: Sent) => {
      const { command, id } = planned
      if (answer._tag !== "Accepted" || command._tag !== "SweepSpend") return
      told.set(id, { spendMicroUsd: command.spendMicroUsd, sequence: answer.sequence, turn })
    }
    return Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      // What was begun and failed is not known to be stored: it is opened again.
      const book = yield* Effect.onError(countUp(nowMs), () => Effect.sync(() => (ledger = undefined)))
      const projects = views.list({ entity: "project" })
      const spentBy = (projectId: string) => book.spentBy(projectId, nowMs)
      turn += 1
      const sent = yield* commander.send("budget", spendCommands({ projects, spentBy, told, epoch }))
      sent.forEach(remember)
      return findingsOf(sent)
    })
  })
  return { name: "budget", everyMs: Sweeper.BudgetSeconds * 1_000, begin }
})
