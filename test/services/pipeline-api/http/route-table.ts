/** Every route of the API, with the scope that it takes and a body that it would accept. `{id}` stands for an id. */
import { Effect } from "effect"
import { StreamReader } from "#bus"
import { pipelineDocuments } from "../../../../services/pipeline-api/documents.ts"

export type Scope = "events:publish" | "pipeline:read" | "pipeline:write" | "pipeline:operate"

export interface RouteRow {
  readonly verb: string
  readonly scope: Scope
  readonly body?: Readonly<Record<string, unknown>>
  /** The answer for an unknown id; null where the route has no id of its own. */
  readonly unknown: string | null
}

const row = (
  verb: string,
  scope: Scope,
  unknown: string | null = null,
  body?: Readonly<Record<string, unknown>>
): RouteRow => ({ verb, scope, unknown, ...(body === undefined ? {} : { body }) })

const item = "work_item_not_found"
const release = "release_not_found"
const project = "project_not_found"
const agent = "agent_not_found"
const reason = { reason: "a look at it" }

export const routeTable: ReadonlyArray<RouteRow> = [
  row("POST /workitems", "pipeline:write", null, { title: "Oil the gate", projectId: "gates" }),
  row("GET /workitems", "pipeline:read"),
  row("GET /workitems/{id}", "pipeline:read", item),
  row("GET /workitems/{id}/history", "pipeline:read", item),
  row("DELETE /workitems/{id}", "pipeline:write", item, { ...reason, resolutionSha: "0123abc" }),
  row("POST /workitems/{id}/answer", "pipeline:write", item, { questionId: "q", answer: "yes" }),
  row("POST /workitems/{id}/dismiss-question", "pipeline:write", item, { questionId: "q" }),
  row("POST /workitems/{id}/resume", "pipeline:write", item),
  row("POST /workitems/{id}/delegate", "pipeline:write", item, reason),
  row("GET /suggestions/{id}", "pipeline:read", "suggestion_not_found"),
  row("POST /releases", "pipeline:write", null, { name: "Spring", projectId: "gates" }),
  row("GET /releases", "pipeline:read"),
  row("GET /releases/{id}", "pipeline:read", release),
  row("POST /releases/{id}/close", "pipeline:write", release),
  row("POST /releases/{id}/abandon", "pipeline:write", release),
  row("POST /releases/{id}/reopen", "pipeline:write", release),
  row("GET /projects", "pipeline:read"),
  row("GET /projects/{id}", "pipeline:read", project),
  // A project that there is not is made.
  row("PUT /projects/{id}", "pipeline:operate", null, { displayName: "G", repositoryUrl: "https://git.example/g" }),
  row("POST /projects/{id}/queue/pause", "pipeline:operate", project, reason),
  row("POST /projects/{id}/queue/resume", "pipeline:operate", project),
  row("POST /events", "events:publish", null, {
    event: "order.created",
    eventSchemaVersion: "1.0.0",
    occurredAt: "2026-05-01T12:00:00Z"
  }),
  row("GET /queue", "pipeline:read"),
  row("POST /queue/pause", "pipeline:operate", null, reason),
  row("POST /queue/resume", "pipeline:operate"),
  row("GET /agents", "pipeline:read"),
  row("POST /agents/{id}/pause", "pipeline:operate", agent, reason),
  row("POST /agents/{id}/resume", "pipeline:operate", agent),
  row("POST /agents/{id}/restore", "pipeline:operate", agent)
]

/** The same as the API's own document has them, but for the two routes that describe the others. */
export const documentedVerbs = (): ReadonlyArray<string> => {
  const { paths } = JSON.parse(JSON.stringify(pipelineDocuments.openApi())) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((verb) => verb !== "GET /openapi.json" && verb !== "GET /docs")
}

/** The path with an id in it. */
export const asked = ({ verb, body }: RouteRow, id: string) => ({
  verb: verb.replace("{id}", encodeURIComponent(id)),
  ...(body === undefined ? {} : { body })
})

/** The place of the last record of the log: nothing was decided while it stands. */
export const lastDecision = Effect.gen(function* () {
  const { lastSequence } = yield* (yield* StreamReader).bounds("LOG")
  return lastSequence
})
