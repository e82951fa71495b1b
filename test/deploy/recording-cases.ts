/** For each recording rule: series, and their recording after twenty minutes, to three digits. */

export interface RecordingCase {
  readonly record: string
  readonly series: Readonly<Record<string, string>>
  readonly labels: string
  readonly value: number
}

const counts = (metric: string, labels: string, values: Readonly<Record<string, number>>, label: string) =>
  Object.fromEntries(
    Object.entries(values).map(([value, step]) => {
      const all = [labels, `${label}="${value}"`].filter((part) => part !== "").join(",")
      return [`${metric}{${all}}`, `0+${step}x60`]
    })
  )

/** A hundred a minute, ninety-nine of them below the first bound and all below the second. */
const times = (metric: string, labels: string, low: string, high: string) =>
  counts(`${metric}_bucket`, labels, { [low]: 99, [high]: 100, "+Inf": 100 }, "le")

const ratio = (record: string, metric: string, labels: string, label: string, bad: string): RecordingCase => ({
  record,
  series: counts(metric, labels, { [bad]: 25, "2xx": 75 }, label),
  labels,
  value: 0.25
})

const p99 = (record: string, metric: string, labels: string, low: string, high: string): RecordingCase => ({
  record,
  series: times(metric, labels, low, high),
  labels,
  value: Number(low)
})

export const recordingCases: ReadonlyArray<RecordingCase> = [
  ratio("role:bus_publish_failures:ratio_rate5m", "bus_published_total", 'role="r",stream="S"', "outcome", "failed"),
  ratio("api:http_server_errors:ratio_rate5m", "http_requests_total", 'api="a"', "status", "5xx"),
  p99("api_route:http_request_seconds:p99_rate5m", "http_request_seconds", 'api="a",route="r"', "0.5", "1"),
  ratio(
    "endpoint:webhook_attempt_failures:ratio_rate5m",
    "webhook_attempts_total",
    'endpoint="e"',
    "status_class",
    "5xx"
  ),
  p99("webhook_publish_to_first_byte_seconds:p99_rate5m", "webhook_publish_to_first_byte_seconds", "", "0.5", "1"),
  p99("webhook_retry_lateness_seconds:p99_rate5m", "webhook_retry_lateness_seconds", "", "0.5", "1"),
  {
    record: "webhook_backlog:deliverable",
    series: {
      // Two replicas report the same backlog.
      'webhook_backlog{endpoint="well",pod="a"}': "100x60",
      'webhook_backlog{endpoint="well",pod="b"}': "100x60",
      'webhook_backlog{endpoint="dead",pod="a"}': "90000x60",
      'webhook_circuit_state{endpoint="dead",pod="a"}': "2x60",
      'webhook_circuit_state{endpoint="well",pod="a"}': "0x60",
      'webhook_backlog{endpoint="paused",pod="a"}': "70000x60",
      'webhook_endpoint_paused{endpoint="paused",pod="a"}': "1x60"
    },
    labels: "",
    value: 100
  },
  ratio(
    "provider:gateway_upstream_failures:ratio_rate5m",
    "gateway_upstream_calls_total",
    'provider="p"',
    "outcome",
    "failed"
  ),
  ratio("network:x402_rpc_unavailable:ratio_rate5m", "x402_rpc_calls_total", 'network="n"', "outcome", "unavailable"),
  p99("network:payment_settlement_seconds:p99_rate15m", "payment_settlement_seconds", 'network="n"', "10", "30"),
  p99("speech_first_byte_seconds:p99_rate5m", "speech_first_byte_seconds", "", "0.5", "1"),
  ratio("speech_streams_failed:ratio_rate5m", "speech_streams_total", "", "outcome", "failed"),
  ratio("speech_sessions_busy:ratio_rate5m", "speech_sessions_total", "", "outcome", "busy"),
  {
    record: "speech_refused:ratio_rate5m",
    series: {
      'speech_refusals_total{reason="beginnings"}': "0+20x60",
      'speech_refusals_total{reason="listeners"}': "0+10x60",
      'speech_streams_total{outcome="spoken"}': "0+70x60"
    },
    labels: "",
    value: 0.3
  },
  ratio("entity:actor_command_failures:ratio_rate5m", "actor_commands_total", 'entity="e"', "outcome", "busy"),
  p99("entity:actor_command_seconds:p99_rate5m", "actor_command_seconds", 'entity="e"', "0.1", "0.25")
]
