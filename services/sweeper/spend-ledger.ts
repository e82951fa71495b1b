/**
 * The spend ledger sums the spend of projects from LOG, and keeps a copy in KV `spend`, so that a restart reads only
 * new records. Sums are stored before the cursor: after a crash between the two, records that are read again are
 * skipped by the projects whose sums include them. An empty bucket is refilled from the log's beginning. A write fails
 * if another process was first: everything here is then outdated, and must be opened anew.
 *
 * The budget sweep sums the spend, and reports it to the projects that have a budget. Their actors decide whether it is
 * exceeded, pause and resume their queues, and publish it.
 */
import { Clock, Effect, Result, Schema, Stream } from "effect"
import {
  type BusError,
  jsonCodec,
  Kv,
  type KvBucket,
  records,
  Rejections,
  type SourceMessage,
  StreamReader
} from "#bus"
import { EpochMs, type Fault } from "#base"
import {
  hourOf,
  type ProjectSpend,
  spendCursorKey,
  SpendEntry,
  hourlySpendHours,
  spendKey,
  spendMicroUsdMax,
  spentMicroUsd,
  workItemFacts
} from "#pipeline/contract"
import { type ViewRow, Views } from "#actors"
import { Configuration } from "#configuration"
import { CommandClient, findingsOf, type PlannedCommand, type Sent, toProject } from "./command-client.ts"
import type { Run, Sweep } from "./sweeps.ts"

export interface SpendLedger {
  readonly book: SpendBook
  /** Counts the new records of LOG and stores the sums. */
  readonly catchUp: (nowMs: number) => Effect.Effect<void, BusError>
}

// A crash while counting a long log loses no more work than this.
const storeEveryRecords = 100_000
const writesAtOnce = 32

export const openSpendLedger = Effect.fn("openSpendLedger")(function* (): Effect.fn.Return<
  SpendLedger,
  BusError,
  Kv | StreamReader | Rejections
> {
  const bucket = yield* (yield* Kv).open("spend", SpendEntry)
  const reader = yield* StreamReader
  const rejections = yield* Rejections
  const book = makeSpendBook()
  const revisions = new Map<string, number>()
  let position = 0
  let stored = 0
  yield* Stream.runForEach(bucket.scan(">"), ({ key, value, revision }) =>
    Effect.sync(() => {
      revisions.set(key, revision)
      if (value._tag === "ProjectSpend") book.load(value)
      else position = value.position
    })
  )
  stored = position

  const write = writer(bucket, revisions)
  const store = Effect.gen(function* () {
    const changed = book.takeChanged()
    if (changed.length === 0 && stored === position) return
    yield* Effect.forEach(changed, (spend) => write(spendKey(spend.projectId), spend), {
      concurrency: writesAtOnce,
      discard: true
    })
    yield* write(spendCursorKey, { _tag: "SpendCursor", position })
    stored = position
  })

  const take = (message: SourceMessage) => {
    const spent = spentIn(message)
    if (Result.isFailure(spent)) {
      const { subject, sequence, data: payload } = message
      return Effect.as(
        rejections.reject({ origin: "log", subject, sequence, faults: spent.failure, payload }),
        undefined
      )
    }
    book.add(message.sequence, spent.success)
    return undefined
  }

  // The arrays of a page are read in a plain loop: a million records pass through here.
  const takeAll = Effect.fnUntraced(function* (page: ReadonlyArray<SourceMessage>) {
    for (const message of page) {
      const rejecting = take(message)
      if (rejecting !== undefined) yield* rejecting
      position = message.sequence
    }
    if (position - stored >= storeEveryRecords) yield* store
  })

  const catchUp = Effect.fn("SpendLedger.catchUp")(function* (nowMs: number) {
    const { lastSequence } = yield* reader.bounds("LOG")
    if (lastSequence > position) {
      yield* reader
        .range("LOG", { fromSequence: position + 1, toSequence: lastSequence })
        .pipe(Stream.runForEachArray(takeAll))
    }
    book.prune(nowMs)
    yield* store
  })
  return { book, catchUp }
})

const writer =
  (bucket: KvBucket<SpendEntry>, revisions: Map<string, number>) =>
  (key: string, value: SpendEntry): Effect.Effect<void, BusError> => {
    const revision = revisions.get(key) ?? 0
    if (!isEmpty(value)) {
      return Effect.map(records(bucket).overwrite(key, value, revision), (next) => void revisions.set(key, next))
    }
    if (revision === 0) return Effect.void
    return Effect.map(bucket.remove(key, revision), () => void revisions.delete(key))
  }

// A project without spend in the window is not kept.
const isEmpty = (value: SpendEntry): value is ProjectSpend => value._tag === "ProjectSpend" && value.hours.length === 0

interface Sums {
  position: number
  readonly hours: Map<number, number>
}

/**
 * The spend in memory, by project and hour. Every record counts once: a project knows the last record in its sums, and
 * skips any that is not later.
 */
interface SpendBook {
  /** Counts one record of LOG; no effect if already counted. */
  readonly add: (sequence: number, spent: ReadonlyArray<Spent>) => void
  readonly load: (stored: ProjectSpend) => void
  /** The spend of the window that ends now, in micro-USD. */
  readonly spentBy: (projectId: string, nowMs: number) => number
  /** Drops hours before the window. */
  readonly prune: (nowMs: number) => void
  /** Projects whose sums changed since the last call; one without hours has no spend left. */
  readonly takeChanged: () => ReadonlyArray<ProjectSpend>
}

export const makeSpendBook = (): SpendBook => {
  const projects = new Map<string, Sums>()
  const changed = new Set<string>()

  const sumsOf = (projectId: string) => {
    const known = projects.get(projectId) ?? { position: 0, hours: new Map<number, number>() }
    projects.set(projectId, known)
    return known
  }
  const addTo = (sums: Sums, { atMs, costMicroUsd }: Spent) => {
    const hour = hourOf(atMs)
    sums.hours.set(hour, Math.min((sums.hours.get(hour) ?? 0) + costMicroUsd, Number.MAX_SAFE_INTEGER))
  }
  return {
    add: (sequence, spent) => {
      // One record can hold several entries of one project: its position moves when all are counted.
      const open = spent.filter(({ projectId }) => sequence > sumsOf(projectId).position)
      for (const one of open) addTo(sumsOf(one.projectId), one)
      for (const { projectId } of open) {
        sumsOf(projectId).position = sequence
        changed.add(projectId)
      }
    },
    load: ({ projectId, position, hours }) => {
      projects.set(projectId, { position, hours: new Map(hours) })
      changed.delete(projectId)
    },
    spentBy: (projectId, nowMs) => spentMicroUsd(projects.get(projectId)?.hours ?? [], nowMs),
    prune: (nowMs) => {
      const first = hourOf(nowMs) - hourlySpendHours
      for (const [projectId, { hours }] of projects) {
        for (const hour of hours.keys()) {
          if (hour < first && hours.delete(hour)) changed.add(projectId)
        }
      }
    },
    takeChanged: () => {
      const taken = [...changed].map((projectId): ProjectSpend => {
        const { position, hours } = sumsOf(projectId)
        return { _tag: "ProjectSpend", projectId, position, hours: [...hours] }
      })
      changed.clear()
      return taken
    }
  }
}

/** The spend in a record of LOG. */
interface Spent {
  readonly projectId: string
  readonly atMs: number
  readonly costMicroUsd: number
}

type Read = Result.Result<ReadonlyArray<Spent>, ReadonlyArray<Fault>>

const codec = jsonCodec(Schema.Struct({ atMs: EpochMs, facts: Schema.Array(Schema.Unknown) }))
const { projectId, costMicroUsd } = workItemFacts.UsageAdded.fields
const decodeUsage = Schema.decodeUnknownResult(Schema.Struct({ projectId, costMicroUsd }))

const itemSubjects = "log.workitem."
const usageTag = '"UsageAdded"'
// Quotes within texts are escaped, so this text always is a member's name.
const stateMember = ',"state":{'
const closing = Buffer.from("}")
const nothing: Read = Result.succeed([])

/**
 * Recounting spend reads a million records. A record is parsed only when its bytes mention usage, and then without the
 * state, which is most of it and comes last. An unreadable record is a failure.
 */
export const spentIn = (message: SourceMessage): Read => {
  if (!message.subject.startsWith(itemSubjects)) return nothing
  const { buffer, byteOffset, byteLength } = message.data
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  if (!bytes.includes(usageTag)) return nothing
  return Result.flatMap(headOf(message, bytes), ({ atMs, facts }) => {
    const spent: Array<Spent> = []
    for (const fact of facts.filter(isUsage)) {
      const usage = decodeUsage(fact)
      if (Result.isFailure(usage)) return Result.fail([{ path: "/facts", message: usage.failure.message }])
      spent.push({ projectId: usage.success.projectId, atMs, costMicroUsd: usage.success.costMicroUsd })
    }
    return Result.succeed(spent)
  })
}

const isUsage = (fact: unknown) =>
  typeof fact === "object" && fact !== null && "_tag" in fact && fact._tag === "UsageAdded"

/** The part before the state, if it parses completely: cut anywhere but between two members, it would not. */
const headOf = (message: SourceMessage, bytes: Buffer) => {
  const end = bytes.indexOf(stateMember)
  if (end < 0) return codec.decode(message)
  const head = codec.decode({ data: Buffer.concat([bytes.subarray(0, end), closing]), header: message.header })
  return Result.isSuccess(head) ? head : codec.decode(message)
}

export const budgetSweep = Effect.fnUntraced(function* ({
  epoch
}: Run): Effect.fn.Return<Sweep, never, CommandClient | Configuration | Kv | Rejections | StreamReader | Views> {
  const { Sweeper } = yield* Configuration
  const client = yield* CommandClient
  const views = yield* Views
  const open = Effect.provideContext(openSpendLedger(), yield* Effect.context<Kv | StreamReader | Rejections>())

  const begin = Effect.sync(() => {
    let ledger: SpendLedger | undefined
    const reported = new Map<string, Reported>()
    let turn = 0

    const countUp = Effect.fnUntraced(function* (nowMs: number) {
      const counting = (ledger ??= yield* open)
      yield* counting.catchUp(nowMs)
      return counting.book
    })
    const remember = ({ planned, answer }: Sent) => {
      const { command, id } = planned
      if (answer._tag !== "Accepted" || command._tag !== "SweepSpend") return
      reported.set(id, { spendMicroUsd: command.spendMicroUsd, sequence: answer.sequence, turn })
    }
    return Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      // After a failed count it is unknown whether it was stored, so the ledger is opened again.
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
  /** The sweep that reported it. */
  readonly turn: number
}

interface SpendPlanInput {
  readonly projects: ReadonlyArray<Pick<ViewRow, "id" | "sequence" | "summary">>
  readonly spentBy: (projectId: string) => number
  readonly reported: ReadonlyMap<string, Reported>
  readonly epoch: string
}

/**
 * The projects to inform of their spend: those whose spend or own record has changed since the last time, and all of
 * them in the first sweep of a run. The project that has waited longest comes first, because a sweep is bounded. Pure.
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
