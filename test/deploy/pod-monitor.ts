/**
 * The operator's Prometheus configuration for our PodMonitor: its relabeling, in the operator's order, over targets
 * with the labels of pods.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { repository } from "./tools.ts"

type Relabelings = ReadonlyArray<Readonly<Record<string, unknown>>>

interface PodMonitor {
  readonly spec: {
    readonly jobLabel: string
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly podMetricsEndpoints: ReadonlyArray<{
      readonly port: string
      readonly path: string
      readonly honorLabels?: boolean
      readonly relabelings?: Relabelings
      readonly metricRelabelings?: Relabelings
    }>
  }
}

export interface Pod {
  readonly address: string
  readonly name: string
  readonly role: string
  readonly port: string
}

const monitorFile = "deploy/k8s/monitoring/pod-monitor.yaml"
const labelName = (name: string) => name.replaceAll(/[^\w]/gu, "_")
const meta = (name: string) => `__meta_kubernetes_${name}`
const snake = (key: string) => key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)

const spelt = (rule: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(rule).map(([key, value]) => [snake(key), value]))

export const scrapeConfigs = (pods: ReadonlyArray<Pod>, interval: string) => {
  const { spec } = parse(readFileSync(join(repository, monitorFile), "utf8")) as PodMonitor
  const job = meta(`pod_label_${labelName(spec.jobLabel)}`)
  return spec.podMetricsEndpoints.map(
    ({ port, path, honorLabels = false, relabelings = [], metricRelabelings = [] }, index) => ({
      job_name: `podMonitor/starling/starling/${index}`,
      honor_labels: honorLabels,
      metrics_path: path,
      scrape_interval: interval,
      scrape_timeout: interval,
      static_configs: pods.map((pod) => ({
        targets: [pod.address],
        labels: podLabels(pod, spec.selector.matchLabels)
      })),
      relabel_configs: [
        ...Object.entries(spec.selector.matchLabels).map(([name, value]) => ({
          action: "keep",
          source_labels: ["label", "labelpresent"].map((kind) => meta(`pod_${kind}_${labelName(name)}`)),
          regex: `(${value});true`
        })),
        { action: "keep", source_labels: [meta("pod_container_port_name")], regex: port },
        { source_labels: [meta("namespace")], target_label: "namespace" },
        { source_labels: [meta("pod_container_name")], target_label: "container" },
        { source_labels: [meta("pod_name")], target_label: "pod" },
        { target_label: "job", replacement: "starling/starling" },
        { source_labels: [job], target_label: "job", regex: "(.+)", replacement: "${1}" },
        { target_label: "endpoint", replacement: port },
        ...relabelings.map(spelt)
      ],
      metric_relabel_configs: metricRelabelings.map(spelt)
    })
  )
}

const podLabels = ({ name, role, port }: Pod, selected: Readonly<Record<string, string>>) => ({
  [meta("namespace")]: "starling",
  [meta("pod_name")]: name,
  [meta("pod_container_name")]: role,
  [meta("pod_container_port_name")]: port,
  ...Object.fromEntries(
    Object.entries(selected).flatMap(([label, value]) => [
      [meta(`pod_label_${labelName(label)}`), value],
      [meta(`pod_labelpresent_${labelName(label)}`), "true"]
    ])
  )
})
