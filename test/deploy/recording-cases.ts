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

const ratio = (record: string, metric: string, labels: string, label: string, bad: string): RecordingCase => ({
  record,
  series: counts(metric, labels, { [bad]: 25, "2xx": 75 }, label),
  labels,
  value: 0.25
})

export const recordingCases: ReadonlyArray<RecordingCase> = [
  ratio(
    "endpoint:webhook_attempt_failures:ratio_rate5m",
    "webhook_attempts_total",
    'endpoint="e"',
    "status_class",
    "5xx"
  ),
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
  }
]
