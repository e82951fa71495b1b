/** One role on Kubernetes: account, pods, disruption budget, and for an API its service and its open port. */
import { containerSecurity, type KubernetesObject, podSecurity, selector } from "./objects.ts"
import { metricsName, metricsPort, passedOnApis, type RoleDeployment, roleDeployments } from "./roles.ts"

export const workload = (role: RoleDeployment): ReadonlyArray<KubernetesObject> => [
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: role.name, labels: selector(role.name) },
    automountServiceAccountToken: false
  },
  deployment(role),
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: role.name, labels: selector(role.name) },
    spec: { maxUnavailable: 1, selector: { matchLabels: selector(role.name) } }
  },
  ...(role.api === undefined ? [] : [service(role.name), openPort(role)]),
  ...(role.callsOut ? [wayOut(role.name)] : [])
]

const deployment = (role: RoleDeployment): KubernetesObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: role.name, labels: selector(role.name) },
  spec: {
    replicas: role.replicas,
    revisionHistoryLimit: 5,
    selector: { matchLabels: selector(role.name) },
    // A new pod is ready before an old one goes.
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: { metadata: { labels: selector(role.name) }, spec: pod(role) }
  }
})

const pod = (role: RoleDeployment) => ({
  serviceAccountName: role.name,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  // 30 s of drain, then time to flush and exit.
  terminationGracePeriodSeconds: 45,
  securityContext: podSecurity,
  topologySpreadConstraints: [
    spread(role, "topology.kubernetes.io/zone", "ScheduleAnyway"),
    // With both pods of a role on one node, its loss would take the role. A node that is being drained does not count.
    { ...spread(role, "kubernetes.io/hostname", "DoNotSchedule"), nodeTaintsPolicy: "Honor" }
  ],
  containers: [container(role)],
  volumes: [
    { name: "tmp", emptyDir: { sizeLimit: "1Gi" } },
    { name: "configuration", configMap: { name: "starling-configuration" } },
    { name: "bus-ca", configMap: { name: "starling-bus-ca", optional: true } },
    // For a broker that asks its clients for certificates.
    { name: "bus-client", secret: { secretName: "starling-bus-client-tls", optional: true, defaultMode: 0o440 } },
    ...(role.secretFiles === undefined
      ? []
      : [{ name: "files", secret: { secretName: role.secretFiles.secret, optional: true, defaultMode: 0o440 } }])
  ]
})

// Counts only pods of one rollout: with the old one's counted too, two new pods could end on one node.
const spread = (role: RoleDeployment, topologyKey: string, whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway") => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable,
  labelSelector: { matchLabels: selector(role.name) },
  matchLabelKeys: ["pod-template-hash"]
})

const container = (role: RoleDeployment) => ({
  name: role.name,
  image: `starling-${role.image}`,
  args: ["role", role.name],
  env: environment(role),
  ...(role.secrets.length === 0
    ? {}
    : { envFrom: role.secrets.map((name) => ({ secretRef: { name, optional: true } })) }),
  ports: [
    { name: "metrics", containerPort: metricsPort },
    ...(role.api === undefined ? [] : [{ name: "http", containerPort: role.api.port }])
  ],
  resources: { requests: { cpu: role.cpu, memory: role.memory }, limits: { memory: role.memoryMax } },
  startupProbe: probe("/livez", 1, 60),
  livenessProbe: { ...probe("/livez", 10, 3), timeoutSeconds: 5 },
  readinessProbe: { ...probe("/readyz", 2, 2), timeoutSeconds: 2 },
  // An API goes on listening until the balancers know that it is leaving.
  ...(role.api === undefined ? {} : { lifecycle: { preStop: { sleep: { seconds: 2 } } } }),
  securityContext: containerSecurity,
  volumeMounts: [
    { name: "tmp", mountPath: "/tmp" },
    { name: "configuration", mountPath: "/etc/starling", readOnly: true },
    { name: "bus-ca", mountPath: "/etc/starling-bus-ca", readOnly: true },
    { name: "bus-client", mountPath: "/etc/starling-bus-client", readOnly: true },
    ...(role.secretFiles === undefined ? [] : [{ name: "files", mountPath: role.secretFiles.folder, readOnly: true }])
  ]
})

const environment = ({ name, api, seesFleet }: RoleDeployment) => [
  { name: "STARLING_CONFIG", value: "/etc/starling/starling.config.json" },
  { name: "BUS_USER", value: name },
  { name: "BUS_PASSWORD", valueFrom: { secretKeyRef: { name: "starling-bus-passwords", key: name, optional: true } } },
  { name: "TELEMETRY_HOST", value: "0.0.0.0" },
  { name: "TELEMETRY_PORT", value: String(metricsPort) },
  ...(api === undefined
    ? []
    : [
        { name: `${api.section}_HOST`, value: "0.0.0.0" },
        { name: `${api.section}_PORT`, value: String(api.port) }
      ]),
  ...(seesFleet === true
    ? [
        { name: "CONSOLE_PROCESSES", value: JSON.stringify(processes()) },
        // By the names of the services, which listen on port 80.
        ...passedOnApis.map((api) => ({ name: api.variable, value: `http://${api.name}` }))
      ]
    : [])
]

const processes = () => roleDeployments.map((role) => `http://${metricsName(role.name)}:${metricsPort}`)

const probe = (path: string, periodSeconds: number, failureThreshold: number) => ({
  httpGet: { path, port: "metrics" },
  periodSeconds,
  failureThreshold
})

const service = (name: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, labels: selector(name) },
  spec: { selector: selector(name), ports: [{ name: "http", port: 80, targetPort: "http" }] }
})

const openPort = ({ name, api }: RoleDeployment): KubernetesObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: `${name}-callers` },
  spec: {
    podSelector: { matchLabels: selector(name) },
    policyTypes: ["Ingress"],
    // Without rules an overlay adds them. A cluster drops an empty list, and each apply would put it back.
    ...(api?.isClosed === true ? {} : { ingress: [{ ports: [{ port: "http", protocol: "TCP" }] }] })
  }
})

/** Everything but the internet: the cluster, the clouds' metadata, and all private networks. */
const notPublic4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16"
]
const notPublic6 = ["::1/128", "fc00::/7", "fe80::/10"]

const wayOut = (name: string): KubernetesObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: `${name}-way-out` },
  spec: {
    podSelector: { matchLabels: selector(name) },
    policyTypes: ["Egress"],
    egress: [
      {
        to: [{ ipBlock: { cidr: "0.0.0.0/0", except: notPublic4 } }, { ipBlock: { cidr: "::/0", except: notPublic6 } }],
        ports: [
          { port: 443, protocol: "TCP" },
          { port: 80, protocol: "TCP" }
        ]
      }
    ]
  }
})
