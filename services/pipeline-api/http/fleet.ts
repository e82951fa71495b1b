/** The pickup queue and agents over HTTP: what keeps work from being given out, and who decided it. */
import { Clock, Effect, Option } from "effect"
import { Views } from "#actors"
import {
  type AgentCommand,
  agentIdOf,
  AgentsQuery,
  type AgentView,
  PauseAgentRequest,
  PauseQueueRequest,
  type QueueCommand,
  queueId,
  RestoreAgentRequest,
  ResumeAgentRequest
} from "#contracts"
import { authenticated, jsonAnswer, readQuery, route } from "#http"
import { Configuration } from "#runtime"
import { Commands } from "../Commands.ts"
import { agentRoster } from "../Routing.ts"
import { agentRow, agentView, queueView } from "../views/fleet.ts"
import { readAgents } from "../views/rows.ts"
import { freshness, pageOf, placeOf } from "./paging.ts"
import { callerName, commandId, noSuch, pathId, readBody, readBodyIfAny, refusing } from "./requests.ts"

const getQueue = Effect.gen(function* () {
  const held = yield* refusing((yield* Commands).read("queue", queueId))
  const { state, sequence } = Option.getOrElse(held, () => ({ state: null, sequence: 0 }))
  return jsonAnswer(queueView(state, sequence))
})

const queueCommand = Effect.fnUntraced(function* (command: QueueCommand) {
  const address = { id: queueId, commandId: yield* commandId }
  const { state, sequence } = yield* refusing((yield* Commands).run("queue", address, command))
  return jsonAnswer(queueView(state, sequence))
})

const pauseQueue = Effect.gen(function* () {
  const { reason } = yield* readBody(PauseQueueRequest)
  return yield* queueCommand({ _tag: "Pause", reason, pausedBy: yield* callerName })
})

const resumeQueue = Effect.flatMap(callerName, (resumedBy) => queueCommand({ _tag: "Resume", resumedBy }))

const keyOf = ({ agent, agentInstanceId }: AgentView) => agentIdOf(agent, agentInstanceId)

/** Those that are configured, and those that something has happened to. */
const listAgents = Effect.gen(function* () {
  const place = yield* placeOf(yield* readQuery(AgentsQuery))
  const nowMs = yield* Clock.currentTimeMillis
  const { Agents } = yield* Configuration
  const rows = readAgents((yield* Views).list({ entity: "agent" })).map((row) => agentRow(row, nowMs))
  const known = new Set(rows.map(keyOf))
  const unheardOf = Agents.Kinds.flatMap(({ Kind, Instances }) => [
    Kind,
    ...Instances.map((each) => agentIdOf(Kind, each))
  ])
    .filter((id) => !known.has(id))
    .map((id) => agentView(id, null, { sequence: 0, nowMs }))
  const all = [...rows, ...unheardOf].toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
  return jsonAnswer({ ...pageOf(all, keyOf, place), ...(yield* freshness) })
})

const agentCommand = Effect.fnUntraced(function* (agentInstanceId: string | null | undefined, command: AgentCommand) {
  const kind = yield* pathId("agent")
  if (!agentRoster((yield* Configuration).Agents).isKind(kind)) return yield* noSuch("agent")
  const id = agentIdOf(kind, agentInstanceId ?? null)
  const address = { id, commandId: yield* commandId }
  const { state, sequence } = yield* refusing((yield* Commands).run("agent", address, command))
  return jsonAnswer(agentView(id, state, { sequence, nowMs: yield* Clock.currentTimeMillis }))
})

const pauseAgent = Effect.gen(function* () {
  const { agentInstanceId, reason, expiresInSeconds = null } = yield* readBody(PauseAgentRequest)
  const nowMs = yield* Clock.currentTimeMillis
  const expiresAtMs = expiresInSeconds === null ? null : nowMs + expiresInSeconds * 1_000
  return yield* agentCommand(agentInstanceId, { _tag: "Pause", reason, pausedBy: yield* callerName, expiresAtMs })
})

const resumeAgent = Effect.gen(function* () {
  const { agentInstanceId, reason = null } = yield* readBodyIfAny(ResumeAgentRequest, {})
  return yield* agentCommand(agentInstanceId, { _tag: "Resume", resumedBy: yield* callerName, reason })
})

const restoreAgent = Effect.gen(function* () {
  const { agentInstanceId, outageStartedAt = null } = yield* readBodyIfAny(RestoreAgentRequest, {})
  const outageStartedAtMs = outageStartedAt === null ? null : Date.parse(outageStartedAt)
  return yield* agentCommand(agentInstanceId, { _tag: "Restore", restoredBy: yield* callerName, outageStartedAtMs })
})

const operate = authenticated("pipeline:operate")
const read = authenticated("pipeline:read")

export const fleetRoutes = [
  route("GET", "/queue", read(getQueue)),
  route("POST", "/queue/pause", operate(pauseQueue)),
  route("POST", "/queue/resume", operate(resumeQueue)),
  route("GET", "/agents", read(listAgents)),
  route("POST", "/agents/:id/pause", operate(pauseAgent)),
  route("POST", "/agents/:id/resume", operate(resumeAgent)),
  route("POST", "/agents/:id/restore", operate(restoreAgent))
] as const
