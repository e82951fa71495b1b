/** The shipped rules in a real Prometheus and a real Alertmanager beside a fleet on which faults are played. */
import { existsSync } from "node:fs"
import { ruleGroups } from "../../deploy/generate/files.ts"
import { inhibitRules } from "../../deploy/generate/inhibition.ts"
import { type Alert, ruleGroup } from "../../deploy/generate/rules.ts"
import type { Conditions, FaultFleet } from "../../dev/faults/index.ts"
import { until } from "../../dev/fixtures/eventually.ts"
import { conditions } from "../../libs/console/conditions/conditions.ts"
import { type Pod, scrapeConfigs } from "../deploy/pod-monitor.ts"
import { alertmanager, prometheus } from "../deploy/tools.ts"
import { startAlertmanager } from "../support/alertmanager.ts"
import { startPrometheus } from "../../dev/fixtures/prometheus.ts"

// Debian's Alertmanager reads it from there alone: unpacked and not installed, it does not start.
const template = "/usr/share/prometheus/alertmanager/default.tmpl"

export const canAlert = prometheus !== undefined && alertmanager !== undefined && existsSync(template)

/** Only where `canAlert`. */
export const startAlerts = async ({ running, pods }: FaultFleet) => {
  const manager = await startAlertmanager(alertmanager ?? "", inhibitRules(conditions))
  const groups = ruleGroups.map((group) => ruleGroup({ ...group, alerts: group.alerts.map(soon) }))
  const scrapes = scrapeConfigs(
    [
      podAt("fleet", running.ready.metrics),
      podAt("far", pods.far.url),
      podAt("near", pods.near.url),
      podAt("shop", pods.shop.url)
    ],
    "2s"
  )
  const reader = await startPrometheus(prometheus ?? "", scrapes, { groups }, { alertmanager: manager.url })
  return {
    /** What the console shows as a cause is sent; what it shows below one is silent. */
    agreeWith: async (wanted: () => Promise<Conditions>) => {
      const said = async () => {
        const [sent, { items }] = [await manager.alerts(), await wanted()]
        const of = (isHeard: boolean) => ({
          alerts: named(sent.filter(({ status }) => (status.inhibitedBy.length === 0) === isHeard)),
          shown: named(items.filter(({ causedBy }) => (causedBy === null) === isHeard))
        })
        return { heard: of(true), silent: of(false) }
      }
      const agrees = ({
        alerts,
        shown
      }: {
        readonly alerts: ReadonlyArray<string>
        readonly shown: ReadonlyArray<string>
      }) => alerts.join() === shown.join()
      await until(said, {
        is: ({ heard, silent }) => heard.alerts.length > 0 && agrees(heard) && agrees(silent),
        withinMs: 60_000
      })
    },
    stop: async () => {
      await reader.stop()
      await manager.stop()
    }
  }
}

const podAt = (name: string, url: string): Pod => ({ address: new URL(url).host, name, role: name, port: "metrics" })

/** As soon as the console. */
const soon = (alert: Alert): Alert => ({ ...alert, after: alert.after === "0m" ? "0s" : "10s" })

const named = (all: ReadonlyArray<{ readonly name: string } | { readonly labels: Readonly<Record<string, string>> }>) =>
  [...new Set(all.map((one) => ("name" in one ? one.name : (one.labels["alertname"] ?? ""))))].toSorted()
