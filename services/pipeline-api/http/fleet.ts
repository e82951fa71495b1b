/** The pickup queue and agents over HTTP: what holds work back, and who decided that. */
import { Clock, Effect, Option } from "effect"
import { Views } from "#actors"
import { type AgentCommand, agentIdOf, type QueueCommand, queueId } from "#pipeline/contract"
import { type AgentView, FleetGroup } from "#pipeline/api"
import { jsonAnswer, routesOf } from "#http"
import { Configuration } from "#configuration"
import { Commands } from "../Commands.ts"
import { agentRoster } from "../Routing.ts"
import { agentRow, agentView, queueView, readAgents } from "../views.ts"
import { apiOptions, callerName, commandId, freshness, noSuch, pageOf, pathId, placeOf, refusing } from "./requests.ts"

const queueCommand = Effect.fnUntraced(function* (command: QueueCommand) {
  const address = { id: queueId, commandId: yield* commandId }
  const { state, sequence } = yield* refusing((yield* Commands).run("queue", address, command))
  return jsonAnswer(queueView(state, sequence))
})

const agentCommand = Effect.fnUntraced(function* (agentInstanceId: string | null | undefined, command: AgentCommand) {
  const kind = yield* pathId("agent")
  if (!agentRoster((yield* Configuration).Agents).isKind(kind)) return yield* noSuch("agent")
  const id = agentIdOf(kind, agentInstanceId ?? null)
  const address = { id, commandId: yield* commandId }
  const { state, sequence } = yield* refusing((yield* Commands).run("agent", address, command))
  return jsonAnswer(agentView(id, state, { sequence, nowMs: yield* Clock.currentTimeMillis }))
})

const keyOf = ({ agent, agentInstanceId }: AgentView) => agentIdOf(agent, agentInstanceId)

export const fleetRoutes = routesOf(
  FleetGroup,
  {
    getQueue: () =>
      Effect.gen(function* () {
        const queue = yield* refusing((yield* Commands).read("queue", queueId))
        const { state, sequence } = Option.getOrElse(queue, () => ({ state: null, sequence: 0 }))
        return jsonAnswer(queueView(state, sequence))
      }),

    pauseQueue: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        return yield* queueCommand({ _tag: "Pause", reason, pausedBy: yield* callerName })
      }),

    resumeQueue: () => Effect.flatMap(callerName, (resumedBy) => queueCommand({ _tag: "Resume", resumedBy })),

    /** Lists the configured agents, and those that have a state. */
    listAgents: ({ query }) =>
      Effect.gen(function* () {
        const place = yield* placeOf(yield* query)
        const nowMs = yield* Clock.currentTimeMillis
        const { Agents } = yield* Configuration
        const rows = readAgents((yield* Views).list({ entity: "agent" })).map((row) => agentRow(row, nowMs))
        const known = new Set(rows.map(keyOf))
        const configuredOnly = Agents.Kinds.flatMap(({ Kind, Instances }) => [
          Kind,
          ...Instances.map((each) => agentIdOf(Kind, each))
        ])
          .filter((id) => !known.has(id))
          .map((id) => agentView(id, null, { sequence: 0, nowMs }))
        const all = [...rows, ...configuredOnly].toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
        return jsonAnswer({ ...pageOf(all, keyOf, place), ...(yield* freshness) })
      }),

    pauseAgent: ({ body }) =>
      Effect.gen(function* () {
        const { agentInstanceId, reason, expiresInSeconds = null } = yield* body
        const nowMs = yield* Clock.currentTimeMillis
        const expiresAtMs = expiresInSeconds === null ? null : nowMs + expiresInSeconds * 1_000
        return yield* agentCommand(agentInstanceId, { _tag: "Pause", reason, pausedBy: yield* callerName, expiresAtMs })
      }),

    resumeAgent: ({ body }) =>
      Effect.gen(function* () {
        const { agentInstanceId, reason = null } = yield* body
        return yield* agentCommand(agentInstanceId, { _tag: "Resume", resumedBy: yield* callerName, reason })
      }),

    restoreAgent: ({ body }) =>
      Effect.gen(function* () {
        const { agentInstanceId, outageStartedAt = null } = yield* body
        const outageStartedAtMs = outageStartedAt === null ? null : Date.parse(outageStartedAt)
        return yield* agentCommand(agentInstanceId, {
          _tag: "Restore",
          restoredBy: yield* callerName,
          outageStartedAtMs
        })
      })
  },
  apiOptions
)
