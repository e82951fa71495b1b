/** Which counters and histograms of the roles show how often each thing is used, how often it fails, and how fast it is. */
import type { RoleName } from "#base"
import type { ThingKind } from "#console/api"

interface Counter {
  readonly metric: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface Source {
  readonly kind: ThingKind
  /** The label that names the thing; a role is named by `id`. */
  readonly by: { readonly label: string } | { readonly id: string }
  /** What none of their processes shows is unknown, not idle. */
  readonly roles: ReadonlyArray<RoleName>
  readonly calls: Counter
  readonly failed: ReadonlyArray<Counter>
  /** A histogram. */
  readonly seconds: Counter
}

const withLabel = (metric: string, label: string, values: ReadonlyArray<string>): ReadonlyArray<Counter> =>
  values.map((value) => ({ metric, labels: { [label]: value } }))

const attemptsFailed = withLabel("webhook_attempts_total", "status_class", [
  "3xx",
  "4xx",
  "5xx",
  "timeout",
  "unreachable",
  "refused"
])

const ofApi = (role: RoleName): Source => ({
  kind: "role",
  by: { id: role },
  roles: [role],
  calls: { metric: "http_requests_total", labels: { api: role } },
  failed: ["5xx", "broken"].map((status) => ({ metric: "http_requests_total", labels: { api: role, status } })),
  seconds: { metric: "http_request_seconds", labels: { api: role } }
})

const ofRole = (role: RoleName, rest: Pick<Source, "calls" | "failed" | "seconds">): Source => ({
  kind: "role",
  by: { id: role },
  roles: [role],
  ...rest
})

export const sources: ReadonlyArray<Source> = [
  ofApi("pipeline-api"),
  ofApi("model-gateway"),
  ofApi("console"),
  ofRole("webhook-dispatcher", {
    calls: { metric: "webhook_attempts_total" },
    failed: attemptsFailed,
    seconds: { metric: "webhook_publish_to_delivered_seconds" }
  }),
  ofRole("sweeper", {
    calls: { metric: "sweeper_run_seconds_count" },
    failed: [{ metric: "sweeper_failures_total" }],
    seconds: { metric: "sweeper_run_seconds" }
  }),
  ofRole("payment-verifier", {
    calls: { metric: "payment_verifications_total" },
    failed: withLabel("payment_verifications_total", "outcome", ["unavailable"]),
    seconds: { metric: "payment_verification_seconds", labels: { stage: "simulate" } }
  }),
  ofRole("payment-settler", {
    calls: { metric: "payment_settlement_tries_total" },
    failed: withLabel("payment_settlement_tries_total", "outcome", ["withheld", "uncollected"]),
    seconds: { metric: "payment_settlement_seconds" }
  }),
  ofRole("speech-api", {
    calls: { metric: "speech_streams_total" },
    failed: withLabel("speech_streams_total", "outcome", ["failed"]),
    seconds: { metric: "speech_first_byte_seconds" }
  }),
  ofRole("speech-sequencer", {
    calls: { metric: "speech_sessions_total" },
    failed: withLabel("speech_sessions_total", "outcome", ["failed"]),
    seconds: { metric: "speech_chunk_seconds" }
  }),
  ofRole("speech-synthesizer", {
    calls: { metric: "speech_engine_jobs_total" },
    failed: withLabel("speech_engine_jobs_total", "outcome", ["failed"]),
    seconds: { metric: "speech_engine_synthesis_seconds" }
  }),
  {
    kind: "provider",
    by: { label: "provider" },
    roles: ["model-gateway"],
    calls: { metric: "gateway_upstream_calls_total" },
    failed: withLabel("gateway_upstream_calls_total", "outcome", ["failed", "broken off"]),
    seconds: { metric: "gateway_upstream_seconds" }
  },
  {
    kind: "chain",
    by: { label: "network" },
    roles: ["payment-verifier", "payment-settler"],
    calls: { metric: "x402_rpc_calls_total" },
    failed: withLabel("x402_rpc_calls_total", "outcome", ["unavailable"]),
    seconds: { metric: "x402_rpc_seconds" }
  },
  {
    kind: "engine",
    by: { label: "engine" },
    roles: ["speech-synthesizer"],
    calls: { metric: "speech_engine_jobs_total" },
    failed: withLabel("speech_engine_jobs_total", "outcome", ["failed"]),
    seconds: { metric: "speech_engine_synthesis_seconds" }
  },
  {
    kind: "endpoint",
    by: { label: "endpoint" },
    roles: ["webhook-dispatcher"],
    calls: { metric: "webhook_attempts_total" },
    failed: attemptsFailed,
    seconds: { metric: "webhook_receiver_seconds" }
  }
]
