/** The board of the pipeline: decisions, sweeps, commands and questions. */
import type { Board } from "./dashboards.ts"
import { panel, quantiles, rate } from "./panels.ts"

export const pipelineBoard: Board = {
  uid: "pipeline",
  title: "pipeline",
  rows: [
    {
      title: "Decisions",
      panels: [
        panel(
          "Commands",
          "reqps",
          rate("actor_commands_total", "entity, outcome"),
          "{{entity}} {{outcome}}",
          "Refused is the caller's fault, failed ours."
        ),
        panel(
          "Commands, p99",
          "s",
          quantiles("actor_command_seconds", "entity"),
          "{{entity}}",
          "From a command's arrival to the stored decision."
        ),
        panel(
          "Decided again",
          "reqps",
          rate("actor_conflicts_total", "entity"),
          "{{entity}}",
          "Another replica was first."
        ),
        panel(
          "Events announced",
          "reqps",
          "sum(rate(actor_events_announced_total[5m]))",
          "events",
          "From decisions to EVENTS."
        ),
        panel(
          "Views behind",
          "short",
          "min(actor_views_behind)",
          "records",
          "What lists and watchdogs do not see yet."
        ),
        panel("Rows written", "reqps", "sum(rate(actor_views_written_total[5m]))", "rows", "Of the views.")
      ]
    },
    {
      title: "Sweeps",
      panels: [
        panel(
          "Findings",
          "short",
          "sum by (sweep, finding) (increase(sweeper_findings_total[1h]))",
          "{{sweep}} {{finding}}",
          "In the last hour."
        ),
        panel(
          "Last run",
          "s",
          "time() - max by (sweep) (sweeper_last_run_timestamp_seconds)",
          "{{sweep}}",
          "How long ago the sweep ran to its end."
        ),
        panel(
          "Failed runs",
          "short",
          "sum by (sweep) (increase(sweeper_failures_total[1h]))",
          "{{sweep}}",
          "In the last hour."
        )
      ]
    },
    {
      title: "Its API and its reports",
      panels: [
        panel(
          "Requests",
          "reqps",
          'sum by (route, status) (rate(http_requests_total{api="pipeline-api"}[5m]))',
          "{{route}} {{status}}",
          "By status class."
        ),
        panel(
          "Requests, p99",
          "s",
          'histogram_quantile(0.99, sum by (le, route) (rate(http_request_seconds_bucket{api="pipeline-api"}[5m])))',
          "{{route}}",
          "From headers to the last byte."
        ),
        panel(
          "Reports",
          "reqps",
          'sum by (outcome) (rate(bus_consumed_total{stream="REPORTS"}[5m]))',
          "{{outcome}}",
          "What internal services told, and what became of it."
        )
      ]
    }
  ]
}
