/** The board of the pipeline: decisions, sweeps, commands and questions. */
import type { Board } from "./dashboards.ts"
import { panel, quantiles, rate, rise, stat } from "./panels.ts"

export const pipelineBoard: Board = {
  uid: "pipeline",
  title: "pipeline",
  variables: [],
  rows: [
    {
      title: "Now",
      panels: [
        stat("Ready", "short", "sum(max by (agent) (pipeline_ready_items))", "Items that a runner may take."),
        stat("Agents benched", "short", "sum(max by (agent) (pipeline_agent_benched))", "They get no work.", 1),
        stat("Runners waiting", "short", "sum(pipeline_pickup_waiters)", "For something to do."),
        stat(
          "Dispatched",
          "short",
          rise('pipeline_pickups_total{answer="dispatch"}'),
          "To runners, within the time shown."
        ),
        stat(
          "Failed commands",
          "short",
          rise('actor_commands_total{outcome=~"failed|busy"}'),
          "That could not be decided.",
          1
        ),
        stat("Views behind", "short", "min(actor_views_behind)", "Records that lists do not show yet.", 1_000),
        stat(
          "Not worked on",
          "short",
          'max(actor_views_left_out{which="moving"})',
          "Entities beyond what the views keep.",
          1
        )
      ]
    },
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
          "sum(rate(actor_events_announced_total[$__rate_interval]))",
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
        panel(
          "Rows written",
          "reqps",
          "sum(rate(actor_views_written_total[$__rate_interval]))",
          "rows",
          "Of the views."
        )
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
        panel("Held", "none", "sum by (sweep) (sweeper_held)", "{{sweep}}", "1: one process runs it."),
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
          'sum by (route, status) (rate(http_requests_total{api="pipeline-api"}[$__rate_interval]))',
          "{{route}} {{status}}",
          "By status class."
        ),
        panel(
          "Requests, p99",
          "s",
          'histogram_quantile(0.99, sum by (le, route) (rate(http_request_seconds_bucket{api="pipeline-api"}[$__rate_interval])))',
          "{{route}}",
          "From headers to the last byte."
        ),
        panel(
          "Reports",
          "reqps",
          'sum by (outcome) (rate(bus_consumed_total{stream="REPORTS"}[$__rate_interval]))',
          "{{outcome}}",
          "What internal services told, and what became of it."
        )
      ]
    }
  ]
}
