/** A rule of Prometheus, and the group and object that hold rules. */
import type { Condition, Severity } from "#base/condition"
import { type KubernetesObject, partOfStarling } from "./objects.ts"
import { seenByPrometheus } from "./sight-promql.ts"

export interface Alert {
  readonly name: string
  readonly expr: string
  /** How long the condition must hold: "5m". */
  readonly after: string
  readonly severity: Severity
  /** The condition in one sentence; labels as `{{ $labels.endpoint }}`, a quantity as `{{ $value | humanize }}`. */
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

/** A condition as Prometheus alerts of it. */
export const alertOf = ({ name, seen, after, severity, title }: Condition): Alert => ({
  name,
  expr: seenByPrometheus(seen),
  after,
  severity,
  summary: summaryOf(title)
})

const figures: Readonly<Record<string, string>> = { percent: "humanizePercentage", duration: "humanizeDuration" }

/** A title with Prometheus' own placeholders. */
const summaryOf = (title: string) =>
  title.replaceAll(/\{(\w+)(?::(\w+))?\}/gu, (_, label: string, unit: string | undefined) =>
    label === "value" ? `{{ $value | ${figures[unit ?? ""] ?? "humanize"} }}` : `{{ $labels.${label} }}`
  )

/** Where docs/runbooks.md is read. An overlay names the operator's own place: `starling-runbooks` in overlays/prod. */
export const runbooksUrl = "https://docs.starling.example/runbooks.md"

/** The anchor of an alert's runbook: the heading is the alert's name. */
export const runbookAnchor = (alert: string) => alert.toLowerCase()
export const runbookOf = (alert: string) => `${runbooksUrl}#${runbookAnchor(alert)}`

/** A group in Prometheus' form. */
export const ruleGroup = ({ name, recordings, alerts }: RuleGroup) => ({
  name,
  rules: [
    ...recordings.map(({ record, expr }) => ({ record, expr })),
    ...alerts.map((alert) => ({
      alert: alert.name,
      expr: alert.expr,
      for: alert.after,
      labels: { severity: alert.severity },
      annotations: { summary: alert.summary, runbook_url: runbookOf(alert.name) }
    }))
  ]
})

export const ruleObject = (group: RuleGroup): KubernetesObject => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PrometheusRule",
  metadata: { name: group.name, labels: partOfStarling },
  spec: { groups: [ruleGroup(group)] }
})
