/**
 * The budget sweep sums the spend, and reports it to the projects that have a budget. Their actors decide whether it is
 * exceeded, pause and resume their queues, and publish it.
 */
import { Clock, Effect } from "effect"
import { type ViewRow, Views } from "#actors"
import type { Kv, Rejections, StreamReader } from "#bus"
import { spendMicroUsdMax } from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { CommandClient, findingsOf, type PlannedCommand, type Sent, toProject } from "./command-client.ts"
import { spendPosition } from "./metrics.ts"
import { openSpendLedger, type SpendLedger } from "./spend-ledger.ts"
import type { Run, Sweep } from "./sweeps.ts"

export const budgetSweep = Effect.fnUntraced(function* ({
  epoch
}: Run): Effect.fn.Return<
  Sweep,
  never,
  CommandClient | Configuration | Kv | Metrics | Rejections | StreamReader | Views
> {
  const { Sweeper } = yield* Configuration
  const client = yield* CommandClient
  const views = yield* Views
  const position = (yield* Metrics).gauge(spendPosition)
  const open = Effect.provideContext(openSpendLedger(), yield* Effect.context<Kv | StreamReader | Rejections>())

  const begin = Effect.sync(() => {
    let ledger: SpendLedger | undefined
    const reported = new Map<string, Reported>()
    let turn = 0

    const countUp = Effect.fnUntraced(function* (nowMs: number) {
      const counting = (ledger ??= yield* open)
      position.set({}, yield* counting.catchUp(nowMs))
      return counting.book
    })
    const remember = ({ planned, answer }: Sent) => {
      const { command, id } = planned
      if (answer._tag !== "Accepted" || command._tag !== "SweepSpend") return
      reported.set(id, { spendMicroUsd: command.spendMicroUsd, sequence: answer.sequence, turn })
    }
    return Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      // A count that failed may be stored or not, so the ledger is opened again.
      const book = yield* Effect.onError(countUp(nowMs), () => Effect.sync(() => (ledger = undefined)))
      const projects = views.list({ entity: "project" })
      const spentBy = (projectId: string) => book.spentBy(projectId, nowMs)
      turn += 1
      const sent = yield* client.send("budget", spendCommands({ projects, spentBy, reported, epoch }))
      sent.forEach(remember)
      return findingsOf(sent)
    })
  })
  return { name: "budget", everyMs: Sweeper.BudgetSeconds * 1_000, begin }
})

export interface Reported {
  readonly spendMicroUsd: number
  /** The sequence of the project's last record after its spend was reported. */
  readonly sequence: number
  /** The sweep in which it was reported. */
  readonly turn: number
}

interface SpendPlanInput {
  readonly projects: ReadonlyArray<Pick<ViewRow, "id" | "sequence" | "summary">>
  readonly spentBy: (projectId: string) => number
  readonly reported: ReadonlyMap<string, Reported>
  readonly epoch: string
}

/**
 * The projects to tell of their spend: those whose spend or own record has changed since the last time, and all of them
 * in the first sweep of a run. The project that has waited longest comes first, for a sweep has a bound. Pure.
 */
export const spendCommands = ({ projects, spentBy, reported, epoch }: SpendPlanInput): ReadonlyArray<PlannedCommand> =>
  projects
    .filter(hasBudget)
    .map((project) => ({ project, spendMicroUsd: Math.min(spentBy(project.id), spendMicroUsdMax) }))
    .filter(({ project, spendMicroUsd }) => {
      const last = reported.get(project.id)
      return last === undefined || last.spendMicroUsd !== spendMicroUsd || project.sequence > last.sequence
    })
    .toSorted((left, right) => turnOf(reported, left.project.id) - turnOf(reported, right.project.id))
    .map(({ project, spendMicroUsd }) => ({
      ...toProject(project, "spend", { _tag: "SweepSpend", spendMicroUsd, epoch }),
      commandId: `sweep.spend.${epoch}.${project.sequence}.${spendMicroUsd}`
    }))

const turnOf = (reported: ReadonlyMap<string, Reported>, projectId: string) => reported.get(projectId)?.turn ?? -1

const hasBudget = ({ summary }: Pick<ViewRow, "summary">) => {
  const settings = summary["settings"]
  return (
    typeof settings === "object" &&
    settings !== null &&
    "budgetMicroUsd" in settings &&
    settings.budgetMicroUsd !== null
  )
}
