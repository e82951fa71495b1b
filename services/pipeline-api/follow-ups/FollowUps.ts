/**
 * Reads the log in order, by one replica at a time (lease `follow-ups`), and carries out each record's follow-ups for
 * other entities. The cursor moves after the work is done: a process that dies repeats a little, and loses nothing. An
 * unreadable record is logged and skipped, because it would hold up all others. The loop is alive while it advances
 * along the log, is at its end, or waits for its lease, a busy entity or the broker.
 *
 * Carries out the follow-ups of a record. Each command's id is the record's sequence and a number, so that a repetition
 * after a crash changes nothing. A refusal ends a follow-up; a busy entity or an unreachable broker is retried later.
 */
import { Context, Effect, Layer, Option, Result, Schedule, Schema, Stream } from "effect"
import {
  type BusError,
  BusUnavailable,
  kept,
  Kv,
  type KvBucket,
  Leases,
  records,
  replaced,
  type SourceMessage,
  StreamReader
} from "#bus"
import { agentOfId, type CommandEntity, type ProjectState } from "#pipeline/contract"
import { Count } from "#base"
import { Configuration } from "#configuration"
import { Health, Metrics, supervise } from "#runtime"
import { type CommandError, Views } from "#actors"
import { priorityDefault } from "#pipeline/api"
import { type CommandOf, projectSnapshot } from "#pipeline"
import { readRecord } from "../History.ts"
import { beatWhile, movement, stallMsDefault } from "../beat-while.ts"
import { followUpsBehind } from "../metrics.ts"
import { type FollowUp, followUpsOf, mayBeFollowed } from "./follow-ups-of.ts"
import { agentRoster } from "../Routing.ts"
import { Commands } from "../Commands.ts"
import { type Configured, settingsFor } from "../Creation.ts"
import { readWorkItems } from "../views.ts"

// The views show a record within about ten milliseconds; when they are far behind, they are checked again later.
const viewsEveryMs = 25
const viewsLooksMax = 400
const wakesAtOnce = 16

export class FollowUpCommands extends Context.Service<
  FollowUpCommands,
  {
    /** `sequence`: the record's. */
    readonly carryOut: (
      followUps: ReadonlyArray<FollowUp>,
      sequence: number
    ) => Effect.Effect<void, CommandError | BusError>
  }
>()("starling/pipeline-api/FollowUpCommands") {
  static readonly layer = Layer.effect(
    FollowUpCommands,
    Effect.gen(function* () {
      const configured = yield* Configuration
      const roster = agentRoster(configured.Agents)
      const commands = yield* Commands
      const views = yield* Views

      const run = <Entity extends CommandEntity>(
        { entity, id, commandId }: Address<Entity>,
        command: CommandOf<Entity>
      ): Effect.Effect<void, CommandError> =>
        commands.run(entity, { id, commandId }, command).pipe(
          Effect.asVoid,
          Effect.catchTags({
            Refusal: ({ state, reason }) =>
              Effect.logInfo("what followed from a record was refused").pipe(
                Effect.annotateLogs({ entity, id, commandId, state, reason })
              ),
            EntityNotFound: () => Effect.void
          })
        )

      /** Creates the item that fixes the findings of a deep audit, by its project's current settings. */
      const remedy = Effect.fnUntraced(function* (followUp: Remedy, commandId: string) {
        const { projectId, workItemId } = followUp.fact
        const project = Option.map(yield* commands.read("project", projectId), ({ state }) => state)
        yield* run({ entity: "workitem", id: workItemId, commandId }, remedyCommand(configured, followUp, project))
      })

      /** Wakes the items that wait for the agent, or for its quota. */
      const wake = Effect.fnUntraced(function* ({ agentId, isQuota }: Wake, sequence: number, commandId: string) {
        // Items that were parked before the agent came back are in the views by then.
        yield* untilShown(views, sequence)
        const { agentKind } = agentOfId(agentId)
        const names = new Set(roster.namesFor(agentKind))
        const states = isQuota ? ["WaitingForAgentResume", "WaitingForQuotaReset"] : ["WaitingForAgentResume"]
        const waiting = readWorkItems(views.list({ entity: "workitem", states })).filter(
          ({ summary: { agent, assignedAgent } }) =>
            assignedAgent === null ? names.has(agent) : assignedAgent === agentKind
        )
        yield* Effect.forEach(
          waiting,
          ({ id, state }) =>
            run({ entity: "workitem", id, commandId }, state === "WaitingForQuotaReset" ? retryForQuota : goOn),
          { concurrency: wakesAtOnce, discard: true }
        )
      })

      return FollowUpCommands.of({
        carryOut: Effect.fn("FollowUpCommands.carryOut")(function* (
          followUps: ReadonlyArray<FollowUp>,
          sequence: number
        ) {
          for (const [index, followUp] of followUps.entries()) {
            const commandId = `${sequence}.${index + 1}`
            if (followUp._tag === "Remedy") yield* remedy(followUp, commandId)
            else if (followUp._tag === "Wake") yield* wake(followUp, sequence, commandId)
            // The command belongs to this entity; the compiler cannot see that of a union.
            else yield* run({ ...followUp, commandId }, followUp.command as never)
          }
        })
      })
    })
  )
}

type Remedy = Extract<FollowUp, { readonly _tag: "Remedy" }>
type Wake = Extract<FollowUp, { readonly _tag: "Wake" }>

interface Address<Entity extends CommandEntity> {
  readonly entity: Entity
  readonly id: string
  readonly commandId: string
}

const goOn = { _tag: "AgentResumed" } as const
const retryForQuota = { _tag: "AutoRetry", reason: "quota", triggeredBy: "targeted", attempt: null } as const

const remedyCommand = (
  configured: Configured,
  { releaseId, fact, release }: Remedy,
  project: Option.Option<ProjectState>
): CommandOf<"workitem"> => ({
  _tag: "Create",
  title: fact.title,
  instructions: fact.instructions,
  projectId: fact.projectId,
  project: Option.match(project, {
    onNone: () => release.project,
    onSome: (known) => projectSnapshot(fact.projectId, known)
  }),
  agent: fact.agent,
  baseBranch: fact.baseBranch,
  externalId: null,
  releaseId,
  kind: "act",
  originCheckWorkItemId: null,
  priority: priorityDefault,
  settings: settingsFor(configured, Option.getOrUndefined(project)),
  workBranchPrefix: configured.Pipeline.WorkBranchPrefix
})

const untilShown = (views: Views["Service"], sequence: number) =>
  Effect.suspend(() =>
    views.freshness().sequence >= sequence
      ? Effect.void
      : Effect.fail(new BusUnavailable({ operation: "look at waiting items", detail: "the views are behind" }))
  ).pipe(Effect.retry({ times: viewsLooksMax, schedule: Schedule.spaced(viewsEveryMs) }))

// Records that arrive within a moment share one run, and one move of the cursor.
const runLimits = { messagesMax: 256, withinMs: 20 }

/** `onPosition` is called after each record with the position reached. */
const follow = Effect.fnUntraced(function* (bucket: KvBucket<Cursor>, onPosition: (sequence: number) => void) {
  const reader = yield* StreamReader
  const { carryOut } = yield* FollowUpCommands
  const behind = (yield* Metrics).gauge(followUpsBehind)

  const one = Effect.fnUntraced(function* (message: SourceMessage) {
    if (!mayBeFollowed(message.subject, message.data)) return
    const record = readRecord(message)
    if (record === undefined) return
    const followUps = followUpsOf(record)
    if (Result.isFailure(followUps)) {
      const { entity, id, sequence } = record
      return yield* Effect.logError("a record cannot be followed up", followUps.failure).pipe(
        Effect.annotateLogs({ entity, id, sequence })
      )
    }
    if (followUps.success.length > 0) yield* carryOut(followUps.success, record.sequence)
  })
  const take = Effect.fnUntraced(function* (messages: ReadonlyArray<SourceMessage>) {
    for (const message of messages) {
      yield* one(message)
      onPosition(message.sequence)
    }
    const position = messages.at(-1)?.sequence ?? 0
    yield* moveCursor(bucket, position)
    const { lastSequence } = yield* reader.bounds("LOG")
    behind.set({}, Math.max(0, lastSequence - position))
  })
  const done = yield* readCursor(bucket)
  onPosition(done)
  yield* Stream.runForEach(reader.followInBatches("LOG", done + 1, runLimits), take)
})

export const FollowUps = {
  /** Follows the log while the scope is open. */
  layer: (holder: string, stallMs = stallMsDefault) =>
    Layer.effectDiscard(
      Effect.gen(function* () {
        const bucket = yield* (yield* Kv).open("cursors", Cursor)
        const reader = yield* StreamReader
        const leases = yield* Leases
        const loop = yield* (yield* Health).loop("follow-ups", { stallMs })
        const { moved, hasMoved } = movement()
        let position: number | undefined
        const followed = follow(bucket, (sequence) => {
          position = sequence
          moved()
        }).pipe(
          // A busy entity or unreachable broker is retried from the cursor on, so the loop is alive.
          Effect.tapErrorTag(["BusUnavailable", "EntityBusy"], () => Effect.sync(moved)),
          Effect.ensuring(Effect.sync(() => (position = undefined)))
        )
        const isAtEnd = Effect.suspend(() =>
          position === undefined
            ? Effect.succeed(false)
            : Effect.map(reader.bounds("LOG"), ({ lastSequence }) => lastSequence <= (position ?? 0))
        )
        yield* beatWhile(
          loop,
          stallMs,
          Effect.suspend(() => (hasMoved() ? Effect.succeed(true) : isAtEnd))
        )
        const work = leases.whileHeld({ key: "follow-ups", holder, onWait: moved }, followed)
        yield* Effect.forkScoped(supervise("follow-ups", work))
      })
    )
}

/** The position up to which follow-ups are done: in KV `cursors`, only ever moved forward. */
export const Cursor = Schema.Struct({ position: Count })
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

const key = "follow-ups"

export const readCursor = (bucket: KvBucket<Cursor>): Effect.Effect<number, BusError> =>
  Effect.map(bucket.get(key), Option.match({ onNone: () => 0, onSome: ({ value }) => value.position }))

/** An overtaken process has lost its lease; repeating its work changes nothing. */
const moveCursor = (bucket: KvBucket<Cursor>, position: number): Effect.Effect<void, BusError> =>
  Effect.asVoid(
    records(bucket).change(key, (held) =>
      held !== undefined && held.position >= position ? kept(held) : replaced({ position })
    )
  )
