/** Alert rules of the pipeline: decisions, and the readers of their log. */
import type { RuleGroup } from "./rules.ts"

export const pipelineRules: RuleGroup = {
  name: "starling-pipeline",
  recordings: [
    {
      record: "entity:actor_command_failures:ratio_rate5m",
      expr: 'sum by (entity) (rate(actor_commands_total{outcome=~"failed|busy"}[5m])) / sum by (entity) (rate(actor_commands_total[5m]))'
    },
    {
      record: "entity:actor_command_seconds:p99_rate5m",
      expr: "histogram_quantile(0.99, sum by (entity, le) (rate(actor_command_seconds_bucket[5m])))"
    }
  ],
  alerts: [
    {
      name: "PipelineCommandsFailing",
      expr: "entity:actor_command_failures:ratio_rate5m > 0.02",
      after: "5m",
      severity: "critical",
      summary: "{{ $value | humanizePercentage }} of the commands for {{ $labels.entity }} cannot be decided."
    },
    {
      name: "PipelineCommandsSlow",
      expr: "entity:actor_command_seconds:p99_rate5m > 0.5",
      after: "10m",
      severity: "warning",
      summary: "One command in a hundred for {{ $labels.entity }} takes more than {{ $value | humanizeDuration }}."
    },
    {
      name: "PipelineViewsBehind",
      expr: "min(actor_views_behind) > 1000",
      after: "5m",
      severity: "warning",
      summary: "Lists and watchdogs are stale: {{ $value | humanize }} records are not in the views yet."
    },
    {
      name: "PipelineViewsFull",
      expr: 'max by (role) (actor_views_left_out{which="moving"}) > 0',
      after: "5m",
      severity: "critical",
      summary: "{{ $labels.role }} does not see {{ $value | humanize }} entities in progress: nobody works on them."
    },
    {
      name: "PipelineConflictsMany",
      expr: "sum by (entity) (rate(actor_conflicts_total[5m])) > 50",
      after: "10m",
      severity: "info",
      summary: "Replicas conflict over {{ $labels.entity }}, {{ $value | humanize }} times a second."
    },
    {
      name: "PipelineSweepFailing",
      expr: "sum by (sweep) (increase(sweeper_failures_total[15m])) > 3",
      after: "0m",
      severity: "warning",
      summary: "The sweep {{ $labels.sweep }} failed {{ $value | humanize }} times within 15 minutes."
    },
    {
      name: "PipelineSweepUnheld",
      expr: "sum by (sweep) (sweeper_held) == 0",
      after: "2m",
      severity: "critical",
      summary: "The sweep {{ $labels.sweep }} is not running."
    }
  ]
}
