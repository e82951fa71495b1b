/** Every route of the operators' API, with the scope that it takes and a body that it accepts. */
import { consoleDocuments } from "../../../../services/console/documents.ts"
import { because } from "../../../support/console.ts"

export type Scope = "console:read" | "console:write" | "console:operate" | "tokens:manage"

interface RouteRow {
  readonly verb: string
  readonly scope: Scope
  readonly body?: Readonly<Record<string, unknown>>
  /** The answer where nothing is kept yet. */
  readonly status: number
}

const row = (verb: string, scope: Scope, status: number, body?: Readonly<Record<string, unknown>>): RouteRow => ({
  verb,
  scope,
  status,
  ...(body === undefined ? {} : { body })
})

const ofNobody = (verb: string, body: Readonly<Record<string, unknown>> = because) =>
  row(verb, "console:operate", 404, body)

export const routeTable: ReadonlyArray<RouteRow> = [
  row("GET /events", "console:read", 200),
  row("GET /events/live", "console:read", 200),
  row("GET /events/catalogue", "console:read", 200),
  row("GET /events/catalogue/{event}", "console:read", 200),
  row("POST /events/catalogue", "console:operate", 201, {
    ...because,
    settings: { Name: "order.paid", Owners: ["internal-services"] }
  }),
  row("PATCH /events/catalogue/{event}", "console:operate", 409, { ...because, revision: 1, settings: {} }),
  row("GET /events/{sequence}", "console:read", 404),
  row("POST /events", "console:write", 200, { ...because, event: "queue.paused", dryRun: true }),
  row("GET /endpoints", "console:read", 200),
  row("GET /endpoints/{name}", "console:read", 404),
  row("POST /endpoints", "console:operate", 201, {
    ...because,
    settings: { Name: "ci", Url: "https://ci.example/hooks" }
  }),
  ofNobody("PATCH /endpoints/{name}", { ...because, revision: 1, settings: {} }),
  ofNobody("POST /endpoints/{name}/rotate", { ...because, secret: "a-secret-of-a-test" }),
  ofNobody("POST /endpoints/{name}/remove"),
  ofNobody("POST /endpoints/{name}/enable"),
  ofNobody("POST /endpoints/{name}/disable"),
  ofNobody("POST /endpoints/{name}/pause"),
  ofNobody("POST /endpoints/{name}/resume"),
  ofNobody("POST /endpoints/{name}/test"),
  row("POST /endpoints/reseal", "console:operate", 200, because),
  row("POST /endpoints/try-filter", "console:read", 200, { settings: {} }),
  row("GET /deliveries", "console:read", 200),
  row("GET /deliveries/{deliveryId}", "console:read", 404),
  row("POST /deliveries/resend", "console:write", 200, { ...because, places: ["999999.0"] }),
  row("POST /deliveries/{deliveryId}/resend", "console:write", 404, because),
  row("GET /abandoned", "console:read", 200),
  row("GET /abandoned/{sequence}", "console:read", 404),
  row("POST /abandoned/resend", "console:write", 200, because),
  row("POST /abandoned/{sequence}/resend", "console:write", 404, because),
  row("POST /abandoned/{sequence}/discard", "console:operate", 404, because),
  row("GET /rejected", "console:read", 200),
  row("GET /rejected/{sequence}", "console:read", 404),
  row("POST /rejected/{sequence}/resend", "console:write", 404, because),
  row("POST /rejected/{sequence}/discard", "console:operate", 404, because),
  row("GET /audit", "console:read", 200),
  row("GET /find", "console:read", 400),
  row("GET /receipts", "console:read", 200),
  row("GET /receipts.csv", "console:read", 200),
  row("GET /receipts/sums", "console:read", 200),
  row("POST /receipts/{sequence}/refunds", "console:operate", 404, { key: "a", ...because }),
  row("GET /receipts/{sequence}", "console:read", 404),
  row("GET /claims", "console:read", 200),
  row("GET /claims/{key}", "console:read", 404),
  row("GET /books", "console:read", 200),
  row("GET /books/{finding}", "console:read", 404),
  row("POST /books/{finding}/mend", "console:operate", 404, because),
  row("POST /books/{finding}/accept", "console:operate", 404, because),
  row("GET /models", "console:read", 200),
  row("GET /speech", "console:read", 200),
  row("GET /conditions", "console:read", 200),
  row("GET /history", "console:read", 400),
  row("GET /timeline", "console:read", 200),
  row("GET /fleet", "console:read", 200),
  row("GET /fleet/live", "console:read", 200),
  row("GET /streams", "console:read", 200),
  row("GET /streams/{stream}/consumers", "console:read", 404),
  row("GET /leases", "console:read", 200),
  row("GET /settings", "console:read", 200),
  row("GET /tokens", "tokens:manage", 200),
  row("POST /tokens", "tokens:manage", 201, { ...because, label: "a test's" }),
  row("POST /tokens/{id}/revoke", "tokens:manage", 404, because),
  // Until the page is on.
  row("POST /session/codes", "tokens:manage", 409, because),
  // Without a chain of `up`.
  row("POST /trials/payments", "console:write", 409, { quote: "eyJ4NDAyVmVyc2lvbiI6Mn0=" })
]

/** Open to everybody: what describes the others, and what a session begins and ends with. */
const open = ["GET /openapi.json", "GET /docs", "GET /session", "POST /session", "DELETE /session"]

/** The same as the API's own document has them, without the open ones. */
export const documentedVerbs = (): ReadonlyArray<string> => {
  const { paths } = JSON.parse(JSON.stringify(consoleDocuments.openApi())) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  }
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((verb) => !open.includes(verb))
}

/** With a sequence and a name at which nothing is. */
export const asked = ({ verb, body }: RouteRow) => ({
  verb: verb
    .replace("{sequence}", "999999")
    .replace("{event}", "queue.paused")
    .replace("{deliveryId}", "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01")
    .replace("{name}", "nobody")
    .replace("{stream}", "NOBODY")
    .replace("{key}", "claim.a.b.c.d")
    .replace("{finding}", "00".repeat(16))
    .replace("{id}", "0123456789ab"),
  ...(body === undefined ? {} : { body })
})
