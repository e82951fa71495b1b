/** Every metric that a rule or a board may use, with its labels: those that the rooms declare, and foreign ones. */
import { boards } from "../../deploy/generate/boards.ts"
import { asked, expressionsOf } from "../../deploy/generate/dashboards.ts"
import { ruleGroups } from "../../deploy/generate/files.ts"
import { scaled } from "../../deploy/generate/scaling.ts"
import { generatedDocuments } from "../../services/fleet/documents.ts"
import { groupLabelsOf } from "../../deploy/generate/promql.ts"

interface Known {
  readonly labels: ReadonlyArray<string>
  readonly isHistogram: boolean
}

/** From docs/metrics.md as it is made now: `| name | type | labels | ...`. */
const documented = (): Map<string, Known> => {
  const page = generatedDocuments().find(({ path }) => path === "docs/metrics.md")?.content ?? ""
  return new Map(
    [...page.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gmu)].map(([, name = "", type, labels = ""]) => [
      name,
      { labels: [...labels.matchAll(/`(\w+)`/gu)].map(([, label = ""]) => label), isHistogram: type === "histogram" }
    ])
  )
}

/** The metrics of the broker's exporter, which is third-party. */
export const fromBroker = {
  nats_server_total_message_bytes: ["server_name"],
  nats_server_max_storage: ["server_name"],
  nats_stream_total_bytes: ["account_name", "stream_name"],
  nats_stream_limit_bytes: ["account_name", "stream_name"],
  nats_stream_total_messages: ["account_name", "stream_name"],
  nats_varz_connections: ["server_id"],
  nats_varz_slow_consumers: ["server_id"],
  nats_varz_mem: ["server_id"],
  nats_varz_in_msgs: ["server_id"],
  nats_varz_out_msgs: ["server_id"]
}

/** The metrics of Prometheus, of the process itself and of the broker's exporter. */
const fromElsewhere: ReadonlyMap<string, Known> = new Map(
  Object.entries({
    up: [],
    ALERTS: ["alertname", "alertstate", "severity"],
    process_cpu_seconds_total: [],
    process_resident_memory_bytes: [],
    nodejs_eventloop_lag_p99_seconds: [],
    ...fromBroker
  }).map(([name, labels]) => [name, { labels, isHistogram: false }])
)

/** Put on every series by the role itself, or by the scraper. */
const everywhere = ["role", "pod", "job", "namespace"]

export const recordings = ruleGroups.flatMap((group) => group.recordings)
export const alerts = ruleGroups.flatMap((group) => group.alerts)
export const panels = boards.flatMap((board) =>
  board.rows.flatMap((row) => row.panels.map((panel) => ({ ...panel, board })))
)

/** A panel's expressions as Prometheus is asked, with spans in place of Grafana's variables for them. */
const askedBy = ({ board, ...panel }: (typeof panels)[number]) =>
  expressionsOf(panel).map((expr) =>
    asked(board, expr).replaceAll("$__rate_interval", "5m").replaceAll("$__range", "3h")
  )

/** By name: recordings, alerts, panels, and autoscaler queries. */
export const expressions: ReadonlyArray<readonly [string, string]> = [
  ...recordings.map(({ record, expr }) => [record, expr] as const),
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...panels.flatMap((panel) => askedBy(panel).map((expr) => [`${panel.board.uid}: ${panel.title}`, expr] as const)),
  ...scaled.flatMap(({ role, work }) => (work === undefined ? [] : [[role, work.query] as const]))
]

const metrics = new Map([...documented(), ...fromElsewhere])
for (const { record, expr } of recordings) {
  metrics.set(record, { labels: groupLabelsOf(expr).filter((label) => label !== "le"), isHistogram: false })
}

/** A metric's name without a histogram's suffix. */
export const familyOf = (metric: string) => {
  const base = metric.replace(/_(?:bucket|sum|count)$/u, "")
  return metrics.get(base)?.isHistogram === true ? base : metric
}

/** Undefined for an unknown metric. */
export const labelsOf = (metric: string): ReadonlyArray<string> | undefined => {
  const family = familyOf(metric)
  const known = metrics.get(family)
  return known === undefined ? undefined : [...known.labels, ...everywhere, ...(metric === family ? [] : ["le"])]
}
