/** Every generated file below deploy/: the fleet on Kubernetes, its broker, and its monitoring. Pure. */
import { type Topology, topologyOf } from "#bus"
import { conditionGroups, conditions } from "#console/conditions"
import { stringify } from "yaml"
import { boards } from "./boards.ts"
import { inhibitRules } from "./inhibition.ts"
import { grafana } from "./dashboards.ts"
import { devBroker, devBrokerFile } from "./dev-broker.ts"
import { brokerNetwork, fleetSight, network, wayToApis } from "./network.ts"
import { natsValues } from "./nats-values.ts"
import { type KubernetesObject, partOfStarling } from "./objects.ts"
import { operator } from "./operator.ts"
import { fleetDeployments, optionalDeployments } from "./roles.ts"
import { recordings } from "./recordings.ts"
import { alertOf, ruleObject, type RuleGroup } from "./rules.ts"
import { scaling } from "./scaling.ts"
import { streamResources } from "./streams.ts"
import { accountsFile } from "./users.ts"
import { workload } from "./workload.ts"

export const ruleGroups: ReadonlyArray<RuleGroup> = conditionGroups.map(({ name, conditions }) => ({
  name,
  recordings: name === recordings.group ? recordings.rules : [],
  alerts: conditions.map(alertOf)
}))

/** What the boards' panels link. */
const watched = {
  alerts: ruleGroups.flatMap(({ alerts }) => alerts),
  recordings: ruleGroups.flatMap(({ recordings }) => recordings)
}

interface GeneratedFile {
  readonly path: string
  readonly content: string
}

const kubernetes = "deploy/k8s"

/** `lanes`: how many streams deliveries are spread over, at least `WebhookDelivery.Lanes`. */
export const generatedFiles = (lanes = 1): ReadonlyArray<GeneratedFile> => filesOf(topologyOf(lanes))

const filesOf = (topology: Topology): ReadonlyArray<GeneratedFile> => [
  ...fleetDeployments.map((role) => yamlFile(`base/${role.name}.yaml`, workload(role))),
  ...optionalDeployments.flatMap((role) => [
    yamlFile(`${role.name}/${role.name}.yaml`, workload(role)),
    ...(role.seesFleet === true
      ? [yamlFile(`${role.name}/fleet.yaml`, [...fleetSight(role.name), ...wayToApis(role.name)])]
      : []),
    kustomization(role.name, [`${role.name}.yaml`, ...(role.seesFleet === true ? ["fleet.yaml"] : [])])
  ]),
  yamlFile("base/operator.yaml", operator),
  yamlFile("base/network.yaml", network),
  kustomization("base", [...fleetDeployments.map(({ name }) => `${name}.yaml`), "operator.yaml", "network.yaml"]),
  yamlFile("scaling/scaled-objects.yaml", scaling()),
  kustomization("scaling", ["scaled-objects.yaml"]),
  yamlFile("nats/streams.yaml", streamResources(topology)),
  yamlFile("nats/network.yaml", brokerNetwork),
  kustomization("nats", ["streams.yaml", "network.yaml"]),
  ...natsValues(topology).map(({ name, values }) => yamlFile(`nats/values-${name}.yaml`, [values])),
  { path: `${kubernetes}/nats/accounts.conf`, content: accountsFile(topology) },
  yamlFile("overlays/dev/nats.yaml", devBroker(topology)),
  { path: `${kubernetes}/overlays/dev/nats.conf`, content: devBrokerFile(topology) },
  ...ruleGroups.map((group) => yamlFile(`monitoring/rules-${group.name}.yaml`, [ruleObject(group)])),
  yamlFile("monitoring/values-alertmanager.yaml", [
    { alertmanager: { config: { inhibit_rules: inhibitRules(conditions) } } }
  ]),
  yamlFile("monitoring/pod-monitor.yaml", [podMonitor]),
  ...boards.map((board) => ({
    path: `${kubernetes}/monitoring/board-${board.uid}.json`,
    content: `${JSON.stringify(grafana(board, watched), null, 2)}\n`
  })),
  monitoring()
]

const podMonitor: KubernetesObject = {
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PodMonitor",
  metadata: { name: "starling", labels: partOfStarling },
  spec: {
    jobLabel: "app.kubernetes.io/part-of",
    selector: { matchLabels: partOfStarling },
    podMetricsEndpoints: [
      {
        port: "metrics",
        path: "/metrics",
        interval: "15s",
        scrapeTimeout: "5s",
        // The operator calls the port `endpoint`, a label by which our metrics mean a webhook receiver.
        relabelings: [{ action: "labeldrop", regex: "endpoint" }],
        // Node's process metrics carry no role; the container's name does.
        metricRelabelings: [
          { sourceLabels: ["role", "container"], regex: ";(.+)", targetLabel: "role", replacement: "${1}" }
        ]
      }
    ]
  }
}

const notice = "# Made by `node deploy/generate/main.ts` from deploy/generate. Change it there.\n"

// A text that two objects carry is written twice: an alias would surprise a reader.
const yaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })

const yamlFile = (path: string, documents: ReadonlyArray<unknown>): GeneratedFile => ({
  path: `${kubernetes}/${path}`,
  content: notice + documents.map(yaml).join("---\n")
})

const kustomizationOf = (resources: ReadonlyArray<string>) => ({
  apiVersion: "kustomize.config.k8s.io/v1beta1",
  kind: "Kustomization",
  resources
})

const kustomization = (folder: string, resources: ReadonlyArray<string>) =>
  yamlFile(`${folder}/kustomization.yaml`, [kustomizationOf(resources)])

const monitoring = () =>
  yamlFile("monitoring/kustomization.yaml", [
    {
      ...kustomizationOf([...ruleGroups.map(({ name }) => `rules-${name}.yaml`), "pod-monitor.yaml"]),
      configMapGenerator: boards.map(({ uid }) => ({
        name: `starling-board-${uid}`,
        files: [`board-${uid}.json`],
        // The label that Grafana's sidecar looks for.
        options: { labels: { grafana_dashboard: "1" }, disableNameSuffixHash: true }
      }))
    }
  ])
