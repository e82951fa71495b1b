/** The default network policies of the namespace's pods: the bus, DNS, and the scraper. */
import { type KubernetesObject, partOfStarling, selector } from "./objects.ts"
import { metricsName, metricsPort, passedOnApis, roleDeployments } from "./roles.ts"

const every = { podSelector: { matchLabels: partOfStarling } }

const policy = (name: string, spec: Readonly<Record<string, unknown>>): KubernetesObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name },
  spec
})

export const network: ReadonlyArray<KubernetesObject> = [
  policy("deny-all", { ...every, policyTypes: ["Ingress", "Egress"] }),
  policy("metrics", {
    ...every,
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
        ports: [{ port: "metrics", protocol: "TCP" }]
      }
    ]
  }),
  policy("bus-and-names", {
    ...every,
    policyTypes: ["Egress"],
    egress: [
      {
        to: [{ podSelector: { matchLabels: { "app.kubernetes.io/name": "nats" } } }],
        ports: [{ port: 4_222, protocol: "TCP" }]
      },
      {
        to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } } }],
        ports: [
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" }
        ]
      }
    ]
  })
]

const natsPods = { matchLabels: { "app.kubernetes.io/name": "nats" } }
const tcp = (port: number) => ({ port, protocol: "TCP" })
const namespace = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } })

/**
 * The broker's policy: open to the fleet, to the controller of its streams, to the scraper, and among its own servers.
 */
export const brokerNetwork: ReadonlyArray<KubernetesObject> = [
  policy("nats", {
    podSelector: natsPods,
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [
          { podSelector: { matchLabels: partOfStarling } },
          { podSelector: { matchLabels: { "app.kubernetes.io/name": "nack" } } }
        ],
        ports: [tcp(4_222)]
      },
      { from: [{ podSelector: natsPods }], ports: [tcp(6_222), tcp(7_222)] },
      { from: [namespace("monitoring"), namespace("keda")], ports: [tcp(7_777), tcp(8_222)] }
    ]
  })
]

/**
 * What a role needs that sees the whole fleet: a name for the pods of each role, and the way to their metrics. It asks
 * the cluster's API for nothing, so it needs no token of the cluster.
 */
export const fleetSight = (viewer: string): ReadonlyArray<KubernetesObject> => [
  ...roleDeployments.map(({ name }): KubernetesObject => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: metricsName(name), labels: selector(name) },
    spec: {
      clusterIP: "None",
      // A pod that is not ready is the one to look at.
      publishNotReadyAddresses: true,
      selector: selector(name),
      ports: [{ name: "metrics", port: metricsPort, targetPort: "metrics" }]
    }
  })),
  policy(`metrics-for-${viewer}`, {
    ...every,
    policyTypes: ["Ingress"],
    ingress: [
      { from: [{ podSelector: { matchLabels: selector(viewer) } }], ports: [{ port: "metrics", protocol: "TCP" }] }
    ]
  }),
  policy(`${viewer}-reads-metrics`, {
    podSelector: { matchLabels: selector(viewer) },
    policyTypes: ["Egress"],
    egress: [{ to: [every], ports: [tcp(metricsPort)] }]
  })
]

/** The way of the console's page to the other APIs, whose calls its pod passes on. */
export const wayToApis = (viewer: string): ReadonlyArray<KubernetesObject> => {
  const names = passedOnApis.map(({ name }) => name)
  const apis = { podSelector: { matchExpressions: [{ key: "app.kubernetes.io/name", operator: "In", values: names }] } }
  return [
    policy(`apis-for-${viewer}`, {
      ...apis,
      policyTypes: ["Ingress"],
      ingress: [
        { from: [{ podSelector: { matchLabels: selector(viewer) } }], ports: [{ port: "http", protocol: "TCP" }] }
      ]
    }),
    policy(`${viewer}-calls-apis`, {
      podSelector: { matchLabels: selector(viewer) },
      policyTypes: ["Egress"],
      egress: [{ to: [apis], ports: passedOnApis.map(({ port }) => tcp(port)) }]
    })
  ]
}
