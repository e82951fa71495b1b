/**
 * The frame of `top`, as data: the roles of a fleet and their readiness, its endpoints, totals and latencies. Derived
 * from two readings, and from each process's readiness. Pure.
 */
import { isoTime } from "#base"
import { finite, type Window, windowOf } from "./readings.ts"
import { type RoleRow, type Seen, roleRows } from "./role-rows.ts"

export interface EndpointRow {
  readonly endpoint: string
  readonly breaker: "closed" | "half-open" | "open" | "paused"
  readonly backlog: number
  readonly inFlight: number
  readonly deliveredPerSecond: number | null
  readonly failedPerSecond: number | null
}

export interface LatencyRow {
  readonly what: string
  readonly perSecond: number | null
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** A program that calls the model gateway, with its calls since the gateway's processes started. */
export interface CallerRow {
  readonly client: string
  readonly answered: number
  readonly quoted: number
  readonly refused: number
  readonly failed: number
}

/** What the model gateway refused, or withheld from a provider, by the key of the request. */
export interface KeyRow {
  /** The code of the refusal; null if the key was dropped and the call proceeded. */
  readonly code: string | null
  readonly key: string
  readonly calls: number
}

/** Rates are null before a second reading; latencies also when nothing happened. */
export interface Frame {
  readonly at: string
  readonly windowSeconds: number
  readonly roles: ReadonlyArray<RoleRow>
  readonly totals: Readonly<Record<string, Readonly<Record<string, number | null>>>>
  readonly endpoints: ReadonlyArray<EndpointRow>
  readonly breakersOpen: ReadonlyArray<string>
  readonly latencies: ReadonlyArray<LatencyRow>
  /** Sorted by calls, most first. */
  readonly callers: ReadonlyArray<CallerRow>
  readonly keys: ReadonlyArray<KeyRow>
}

export const frameOf = (seen: Seen): Frame => {
  const window = windowOf(seen.before, seen.after)
  return {
    at: isoTime(seen.after.atMs),
    windowSeconds: window.seconds,
    roles: roleRows(seen),
    totals: totalsOf(window),
    endpoints: endpointRows(window),
    breakersOpen: breakersOf(window),
    latencies: latencyRows(window),
    callers: callerRows(window),
    keys: keyRows(window)
  }
}

const breakerNames = ["closed", "half-open", "open"] as const

const endpointRows = (window: Window): ReadonlyArray<EndpointRow> =>
  window
    .values("webhook_backlog", "endpoint")
    .map((endpoint): EndpointRow => {
      const of = { endpoint }
      const delivered = window.rate("webhook_deliveries_total", { endpoint, outcome: "delivered" })
      const attempts = window.rate("webhook_attempts_total", of)
      const good = window.rate("webhook_attempts_total", { endpoint, status_class: "2xx" })
      const state = breakerNames[window.most("webhook_circuit_state", of)] ?? "closed"
      return {
        endpoint,
        breaker: window.most("webhook_endpoint_paused", of) === 1 ? "paused" : state,
        // Each replica counts the backlog of them all.
        backlog: window.most("webhook_backlog", of),
        inFlight: window.now("webhook_in_flight", of),
        deliveredPerSecond: finite(delivered),
        failedPerSecond: finite(attempts - good)
      }
    })
    .toSorted((left, right) => right.backlog - left.backlog || right.inFlight - left.inFlight)

const breakersOf = (window: Window): ReadonlyArray<string> => [
  ...window
    .values("webhook_circuit_state", "endpoint")
    .filter((endpoint) => window.most("webhook_circuit_state", { endpoint }) > 0)
    .map((endpoint) => `endpoint ${endpoint}`),
  ...window.values("gateway_breaker_open", "provider").flatMap((provider) =>
    window
      .values("gateway_breaker_open", "model", { provider })
      .filter((model) => window.most("gateway_breaker_open", { provider, model }) > 0)
      .map((model) => `provider ${provider} for ${model}`)
  ),
  ...window
    .values("x402_rpc_nodes_open", "network")
    .filter((network) => window.most("x402_rpc_nodes_open", { network }) > 0)
    .map((network) => `nodes of ${network}`)
]

const totalsOf = (window: Window): Frame["totals"] => {
  const rate = (name: string, labels = {}) => finite(window.rate(name, labels))
  const payments = (outcome: string) => rate("gateway_payments_total", { outcome })
  const api = { api: "model-gateway" }
  return {
    webhooks: {
      "delivered/s": rate("webhook_deliveries_total", { outcome: "delivered" }),
      delivered: window.now("webhook_deliveries_total", { outcome: "delivered" }),
      backlog: window
        .values("webhook_backlog", "endpoint")
        .reduce((sum, endpoint) => sum + window.most("webhook_backlog", { endpoint }), 0),
      "in flight": window.now("webhook_in_flight"),
      "retries waiting": window.most("webhook_retries_waiting"),
      "oldest due s": window.most("webhook_oldest_due_age_seconds"),
      abandoned: window.now("webhook_deliveries_total", { outcome: "abandoned" })
    },
    speech: {
      streams: window.now("speech_streams_active"),
      sessions: window.now("speech_sessions_active"),
      encoders: window.now("audio_encoders_running"),
      "ended/s": rate("speech_streams_total"),
      "audio s/s": rate("speech_spoken_seconds_total"),
      underruns: window.now("speech_underruns_total")
    },
    gateway: {
      "in flight": window.now("http_requests_active", api),
      "calls/s": rate("http_requests_total", api),
      "5xx/s": rate("http_requests_total", { ...api, status: "5xx" }),
      "tokens/s": rate("gateway_tokens_total")
    },
    payments: {
      "quoted/s": payments("quoted"),
      "verified/s": payments("verified"),
      "settled/s": payments("settled"),
      settled: window.now("gateway_payments_total", { outcome: "settled" }),
      "refused/s": payments("refused"),
      verifying: window.now("payment_verifications_running"),
      keys: window.now("payment_settler_keys_held")
    },
    pipeline: {
      "commands/s": rate("actor_commands_total"),
      "events/s": rate("webhook_events_received_total"),
      ready: window.most("pipeline_ready_items"),
      "views behind": window.most("actor_views_behind"),
      "follow-ups behind": window.most("pipeline_follow_ups_behind")
    }
  }
}

const latencies: ReadonlyArray<readonly [what: string, histogram: string, labels?: Readonly<Record<string, string>>]> =
  [
    ["webhook: stored to first byte", "webhook_publish_to_first_byte_seconds"],
    ["webhook: receiver", "webhook_receiver_seconds"],
    ["webhook: stored to delivered", "webhook_publish_to_delivered_seconds"],
    ["speech: first byte", "speech_first_byte_seconds"],
    ["speech: chunk", "speech_chunk_seconds"],
    ["gateway: call", "http_request_seconds", { api: "model-gateway" }],
    ["gateway: provider", "gateway_upstream_seconds"],
    ["payment: verify", "gateway_payment_seconds", { stage: "verify" }],
    ["payment: settle", "gateway_payment_seconds", { stage: "settle" }],
    ["pipeline: call", "http_request_seconds", { api: "pipeline-api" }],
    ["pipeline: command", "actor_command_seconds"]
  ]

const latencyRows = (window: Window): ReadonlyArray<LatencyRow> =>
  latencies.map(([what, histogram, labels = {}]) => ({
    what,
    perSecond: finite(window.rate(`${histogram}_count`, labels)),
    p50Ms: finite(window.quantile(histogram, 0.5, labels) * 1_000),
    p99Ms: finite(window.quantile(histogram, 0.99, labels) * 1_000)
  }))

const callerRows = (window: Window): ReadonlyArray<CallerRow> =>
  window
    .values("gateway_client_calls_total", "client")
    .map((client): CallerRow => {
      const of = (outcome: string) => window.now("gateway_client_calls_total", { client, outcome })
      return {
        client,
        answered: of("ok"),
        quoted: of("quoted"),
        refused: of("refused"),
        failed: of("failed")
      }
    })
    .filter((row) => callsOf(row) > 0)
    .toSorted((left, right) => callsOf(right) - callsOf(left))

const callsOf = ({ answered, quoted, refused, failed }: CallerRow) => answered + quoted + refused + failed

// A few hundred keys are known: those at the end are insignificant.
const keyRowsMax = 20

const keyRows = (window: Window): ReadonlyArray<KeyRow> => {
  const refused = window.values("gateway_refusals_total", "code").flatMap((code) =>
    window.values("gateway_refusals_total", "key", { code }).map((key): KeyRow => ({
      code,
      key,
      calls: window.now("gateway_refusals_total", { code, key })
    }))
  )
  const leftOut = window.values("gateway_keys_left_out_total", "key").map((key): KeyRow => ({
    code: null,
    key,
    calls: window.now("gateway_keys_left_out_total", { key })
  }))
  return [...refused, ...leftOut].toSorted((left, right) => right.calls - left.calls).slice(0, keyRowsMax)
}
