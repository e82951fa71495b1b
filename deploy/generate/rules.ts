/** What a rule of Prometheus is, and the group and object that hold them. */
import { type KubernetesObject, partOfStarling } from "./objects.ts"

/** Wakes somebody: `critical`. Seen within the working day: `warning`. Worth knowing: `info`. */
export type Severity = "critical" | "warning" | "info"

export interface Alert {
  readonly name: string
  readonly expr: string
  /** How long it must be so: "5m". */
  readonly after: string
  readonly severity: Severity
  /** What is so, in one sentence; labels as `{{ $labels.endpoint }}`. */
  readonly summary: string
}

export interface Recording {
  readonly record: string
  readonly expr: string
}

export interface RuleGroup {
  readonly name: string
  readonly recordings: ReadonlyArray<Recording>
  readonly alerts: ReadonlyArray<Alert>
}

/** Where an alert's runbook stands in the release's repository: the heading is the alert's name. */
export const runbookOf = (alert: string) => `docs/operations.md#${alert.toLowerCase()}`

/** A group as Prometheus reads it. */
export const ruleGroup = ({ name, recordings, alerts }: RuleGroup) => ({
  name,
  rules: [
    ...recordings.map(({ record, expr }) => ({ record, expr })),
    ...alerts.map((alert) => ({
      alert: alert.name,
      expr: alert.expr,
      for: alert.after,
      labels: { severity: alert.severity },
      annotations: { summary: alert.summary, runbook: runbookOf(alert.name) }
    }))
  ]
})

export const ruleObject = (group: RuleGroup): KubernetesObject => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PrometheusRule",
  metadata: { name: group.name, labels: partOfStarling },
  spec: { groups: [ruleGroup(group)] }
})
