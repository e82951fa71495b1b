/** The operations on the pickup queue and on agents, as data. */
import { listCodes, readCodes, writeCodes } from "./error-codes.ts"
import type { Operation } from "./operations.ts"

const read = { scope: "pipeline:read" } as const
const queue = { scope: "pipeline:operate", answer: "QueueView", codes: writeCodes } as const
const agent = { scope: "pipeline:operate", answer: "AgentView", codes: [...writeCodes, "agent_not_found"] } as const

export const fleetOperations: ReadonlyArray<Operation> = [
  {
    id: "getQueue",
    method: "GET",
    path: "/queue",
    summary: "Look at the pickup queue",
    description: "Whether anything is given to runners at all.",
    ...read,
    answer: "QueueView",
    codes: readCodes
  },
  {
    id: "pauseQueue",
    method: "POST",
    path: "/queue/pause",
    summary: "Pause the pickup queue",
    description: "Once this is answered nothing is given to runners any more; what they have in hand goes on.",
    ...queue,
    body: { schema: "PauseQueueRequest", example: { reason: "maintenance" } }
  },
  {
    id: "resumeQueue",
    method: "POST",
    path: "/queue/resume",
    summary: "Resume the pickup queue",
    description: "A queue that runs is left as it is.",
    ...queue
  },
  {
    id: "listAgents",
    method: "GET",
    path: "/agents",
    summary: "List agents",
    description: "Those that are configured, and those that something has happened to, in the order of their names.",
    ...read,
    query: "AgentsQuery",
    answer: "AgentPage",
    codes: listCodes
  },
  {
    id: "pauseAgent",
    method: "POST",
    path: "/agents/:id/pause",
    summary: "Pause an agent",
    description:
      "A kind, or one instance of it: no new work for it from now on. Items that it alone may take wait for it.",
    ...agent,
    body: { schema: "PauseAgentRequest", example: { reason: "it is tired", expiresInSeconds: 3_600 } }
  },
  {
    id: "resumeAgent",
    method: "POST",
    path: "/agents/:id/resume",
    summary: "Resume an agent",
    description: "Items that waited for it go on. What else keeps it from new work, `holds` says.",
    ...agent,
    body: { schema: "ResumeAgentRequest", example: {}, isOptional: true }
  },
  {
    id: "restoreAgent",
    method: "POST",
    path: "/agents/:id/restore",
    summary: "Say that an agent is back",
    description: "It takes work again, and items that failed in its outage are tried again.",
    ...agent,
    body: { schema: "RestoreAgentRequest", example: {}, isOptional: true }
  }
]
