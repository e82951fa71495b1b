/** What boards ask too often to be reckoned anew each time. */
import type { Recording } from "./rules.ts"

const rules: ReadonlyArray<Recording> = [
  {
    record: "endpoint:webhook_attempt_failures:ratio_rate5m",
    expr: 'sum by (endpoint) (rate(webhook_attempts_total{status_class!="2xx"}[5m])) / sum by (endpoint) (rate(webhook_attempts_total[5m]))'
  },
  {
    record: "webhook_backlog:deliverable",
    expr: "sum(max by (endpoint) (webhook_backlog) unless on (endpoint) (max by (endpoint) (webhook_circuit_state) > 0) unless on (endpoint) (max by (endpoint) (webhook_endpoint_paused) == 1)) or vector(0)"
  }
]

export const recordings = { group: "starling-webhooks", rules }
