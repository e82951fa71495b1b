/** The board of the webhooks: what receivers notice, what waits, and why. */
import type { Board } from "./dashboards.ts"
import { column, panel, quantiles, rate, rise, stat, table } from "./panels.ts"

export const webhooksBoard: Board = {
  uid: "webhooks",
  title: "webhooks",
  variables: [
    {
      label: "endpoint",
      of: "webhook_circuit_state",
      narrows: [
        "endpoint:webhook_attempt_failures:ratio_rate5m",
        "webhook_abandoned_deliveries",
        "webhook_attempts_total",
        "webhook_backlog",
        "webhook_deliveries_total",
        "webhook_endpoint_paused",
        "webhook_endpoint_unusable",
        "webhook_in_flight",
        "webhook_oldest_due_age_seconds",
        "webhook_parked_events",
        "webhook_parked_expired_total",
        "webhook_postponed_total",
        "webhook_publish_to_delivered_seconds_bucket",
        "webhook_publish_to_first_byte_seconds_bucket",
        "webhook_receiver_seconds_bucket",
        "webhook_retry_lateness_seconds_bucket",
        "webhook_waiting_for_key"
      ]
    }
  ],
  rows: [
    {
      title: "Now",
      panels: [
        stat(
          "Delivered",
          "reqps",
          'sum(rate(webhook_deliveries_total{outcome="delivered"}[$__rate_interval]))',
          "A second, over all chosen endpoints."
        ),
        stat("Backlog", "short", "sum(max by (endpoint) (webhook_backlog))", "Due and not finished.", 50_000),
        stat(
          "Oldest due",
          "s",
          "max(webhook_oldest_due_age_seconds)",
          "How far the slowest of the chosen endpoints is behind.",
          300
        ),
        stat(
          "Endpoints with an open breaker",
          "none",
          "count(max by (endpoint) (webhook_circuit_state) == 2) or vector(0)",
          "Their breakers are open.",
          1
        ),
        stat(
          "Given up",
          "short",
          rise('webhook_deliveries_total{outcome=~"abandoned|gone"}'),
          "Within the time shown; in ABANDONED for 30 days.",
          1
        ),
        stat("Missed for good", "short", rise("webhook_parked_expired_total"), "Parked beyond ParkedMaxDays.", 1)
      ]
    },
    {
      title: "Endpoints",
      panels: [
        table("Endpoints", "One line each, as they are now.", [
          column(
            "delivered a second",
            "reqps",
            'sum by (endpoint) (rate(webhook_deliveries_total{outcome="delivered"}[$__rate_interval]))'
          ),
          column(
            "failing attempts",
            "percentunit",
            "sum by (endpoint) (endpoint:webhook_attempt_failures:ratio_rate5m)"
          ),
          column("backlog", "short", "max by (endpoint) (webhook_backlog)"),
          column("oldest due", "s", "max by (endpoint) (webhook_oldest_due_age_seconds)"),
          column("abandoned", "short", "max by (endpoint) (webhook_abandoned_deliveries)"),
          column("breaker", "none", "max by (endpoint) (webhook_circuit_state)"),
          column("paused", "none", "max by (endpoint) (webhook_endpoint_paused)"),
          column("unusable", "none", "max by (endpoint) (webhook_endpoint_unusable)")
        ])
      ]
    },
    {
      title: "What receivers notice",
      panels: [
        panel(
          "Deliveries ended",
          "reqps",
          rate("webhook_deliveries_total", "outcome"),
          "{{outcome}}",
          "Delivered, abandoned or gone, a second."
        ),
        panel(
          "The dispatcher's own part, p99",
          "s",
          quantiles("webhook_dispatch_seconds", "attempt"),
          "{{attempt}}",
          "Until it had a delivery in hand to send, without what endpoints hold back."
        ),
        panel(
          "Storage to first byte, p99",
          "s",
          quantiles("webhook_publish_to_first_byte_seconds"),
          "p99",
          "From an event's storage to the first byte of its first attempt."
        ),
        panel(
          "Storage to delivered, p99",
          "s",
          quantiles("webhook_publish_to_delivered_seconds", "endpoint"),
          "{{endpoint}}",
          "With retries: what a receiver's own faults cost it."
        ),
        panel(
          "Attempts",
          "reqps",
          rate("webhook_attempts_total", "status_class"),
          "{{status_class}}",
          "By what the receivers answered."
        ),
        panel(
          "Failing attempts",
          "percentunit",
          "endpoint:webhook_attempt_failures:ratio_rate5m",
          "{{endpoint}}",
          "Share of attempts that were no 2xx."
        ),
        panel(
          "Receivers' own time, p99",
          "s",
          quantiles("webhook_receiver_seconds", "endpoint"),
          "{{endpoint}}",
          "From sending a request to its answer."
        )
      ]
    },
    {
      title: "What waits",
      panels: [
        panel(
          "Backlog",
          "short",
          "max by (endpoint) (webhook_backlog)",
          "{{endpoint}}",
          "Deliveries due and not finished, over all replicas."
        ),
        panel(
          "Backlog that more pods would shorten",
          "short",
          "webhook_backlog:deliverable",
          "deliverable",
          "Without endpoints that are paused or broken: what the autoscaler goes by."
        ),
        panel(
          "Oldest due",
          "s",
          "max by (endpoint) (webhook_oldest_due_age_seconds)",
          "{{endpoint}}",
          "Age of the oldest due delivery."
        ),
        panel("Waiting for a retry", "short", "max(webhook_retries_waiting)", "waiting", "Schedules at the broker."),
        panel(
          "Waiting for their key",
          "short",
          "max by (endpoint) (webhook_waiting_for_key) > 0",
          "{{endpoint}}",
          "Deliveries of ordered endpoints behind an earlier one of their key."
        ),
        panel(
          "Events before parked endpoints",
          "short",
          "max by (endpoint) (webhook_parked_events)",
          "{{endpoint}}",
          "What a parked endpoint will be given when it resumes."
        ),
        panel(
          "In flight",
          "short",
          "sum by (endpoint) (webhook_in_flight)",
          "{{endpoint}}",
          "Requests on the way, over all replicas."
        )
      ]
    },
    {
      title: "Why",
      panels: [
        panel(
          "Breakers",
          "none",
          "max by (endpoint) (webhook_circuit_state)",
          "{{endpoint}}",
          "0 closed, 1 probing, 2 open."
        ),
        panel(
          "Paused",
          "none",
          "max by (endpoint) (webhook_endpoint_paused)",
          "{{endpoint}}",
          "1 while paused by an operator or a 410."
        ),
        panel(
          "Put off without an attempt",
          "reqps",
          rate("webhook_postponed_total", "reason"),
          "{{reason}}",
          "Full, broken or paused endpoints in a shared partition."
        ),
        panel(
          "Retries late, p99",
          "s",
          quantiles("webhook_retry_lateness_seconds"),
          "p99",
          "How much later than due a retry left."
        ),
        panel(
          "Events read by the fan-out",
          "reqps",
          "sum(rate(webhook_events_received_total[$__rate_interval]))",
          "events",
          "And written for each endpoint that wants them."
        ),
        panel(
          "Attempts not recorded",
          "short",
          "sum(increase(webhook_attempt_records_dropped_total[1h]))",
          "attempts",
          "Gaps in the delivery log, in the last hour."
        ),
        panel(
          "Calls refused by the address guard",
          "reqps",
          rate("egress_refusals_total", "use, range"),
          "{{use}} {{range}}",
          "URLs that lead where they must not."
        )
      ]
    }
  ]
}
