/** Alert rules of the webhooks. An endpoint's own trouble is its owner's concern and never pages an operator. */
import { risen } from "./risen.ts"
import type { RuleGroup } from "./rules.ts"

export const webhookRules: RuleGroup = {
  name: "starling-webhooks",
  recordings: [
    {
      record: "endpoint:webhook_attempt_failures:ratio_rate5m",
      expr: 'sum by (endpoint) (rate(webhook_attempts_total{status_class!="2xx"}[5m])) / sum by (endpoint) (rate(webhook_attempts_total[5m]))'
    },
    {
      record: "webhook_publish_to_first_byte_seconds:p99_rate5m",
      expr: "histogram_quantile(0.99, sum by (le) (rate(webhook_publish_to_first_byte_seconds_bucket[5m])))"
    },
    {
      record: "webhook_retry_lateness_seconds:p99_rate5m",
      expr: "histogram_quantile(0.99, sum by (le) (rate(webhook_retry_lateness_seconds_bucket[5m])))"
    },
    {
      record: "webhook_backlog:deliverable",
      expr: "sum(max by (endpoint) (webhook_backlog) unless on (endpoint) (max by (endpoint) (webhook_circuit_state) > 0) unless on (endpoint) (max by (endpoint) (webhook_endpoint_paused) == 1)) or vector(0)"
    }
  ],
  alerts: [
    {
      name: "WebhookBacklogGrowing",
      expr: "webhook_backlog:deliverable > 50000 and deriv(webhook_backlog:deliverable[10m]) > 0",
      after: "10m",
      severity: "critical",
      summary: "Healthy endpoints have {{ $value | humanize }} deliveries queued, and more every minute."
    },
    {
      name: "WebhookEndpointLate",
      expr: "max by (endpoint) (webhook_oldest_due_age_seconds) > 300 unless on (endpoint) (max by (endpoint) (webhook_circuit_state) > 0) unless on (endpoint) (max by (endpoint) (webhook_endpoint_paused) == 1)",
      after: "5m",
      severity: "warning",
      summary: "{{ $labels.endpoint }} is {{ $value | humanizeDuration }} behind although it answers."
    },
    {
      name: "WebhookEndpointFailing",
      expr: "endpoint:webhook_attempt_failures:ratio_rate5m > 0.5",
      after: "15m",
      severity: "info",
      summary: "{{ $value | humanizePercentage }} of the attempts at {{ $labels.endpoint }} fail."
    },
    {
      name: "WebhookCircuitOpen",
      expr: "max by (endpoint) (webhook_circuit_state) == 2",
      after: "15m",
      severity: "info",
      summary: "{{ $labels.endpoint }} has not accepted a delivery for 15 minutes: its breaker is open."
    },
    {
      name: "WebhookEndpointPaused",
      expr: "max by (endpoint) (webhook_endpoint_paused) == 1",
      after: "1h",
      severity: "info",
      summary: "{{ $labels.endpoint }} is paused, by an operator or because it answered 410."
    },
    {
      name: "WebhookDeliveriesAbandoned",
      expr: `sum by (endpoint) ${risen('webhook_deliveries_total{outcome=~"abandoned|gone"}', "15m")} > 0`,
      after: "0m",
      severity: "warning",
      summary: "{{ $value | humanize }} deliveries to {{ $labels.endpoint }} were abandoned within 15 minutes."
    },
    {
      name: "WebhookParkedLong",
      expr: "max by (endpoint) (webhook_parked_events) > 0",
      after: "1d",
      severity: "warning",
      summary:
        "{{ $labels.endpoint }} has been parked for a day, with {{ $value | humanize }} events waiting; after ParkedMaxDays it loses them."
    },
    {
      name: "WebhookEventsMissed",
      expr: `sum by (endpoint) ${risen("webhook_parked_expired_total", "1h")} > 0`,
      after: "0m",
      severity: "critical",
      summary: "{{ $labels.endpoint }} was parked for too long and has lost {{ $value | humanize }} events."
    },
    {
      name: "WebhookAttemptLogLossy",
      expr: `sum${risen("webhook_attempt_records_dropped_total", "15m")} > 0`,
      after: "0m",
      severity: "warning",
      summary: "The delivery log lacks {{ $value | humanize }} attempts of the last 15 minutes."
    },
    {
      name: "WebhookDispatchSlow",
      expr: "webhook_publish_to_first_byte_seconds:p99_rate5m > 1",
      after: "10m",
      severity: "warning",
      summary: "One event in a hundred takes more than {{ $value | humanizeDuration }} to leave."
    },
    {
      name: "WebhookRetriesLate",
      expr: "webhook_retry_lateness_seconds:p99_rate5m > 5",
      after: "10m",
      severity: "warning",
      summary: "One retry in a hundred leaves more than {{ $value | humanizeDuration }} after it was due."
    }
  ]
}
