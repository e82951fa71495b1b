/**
 * The cluster itself: its version, the namespace, the controllers and their kinds, and monitoring's selectors. Pure.
 */
import type { Cluster, Workload } from "../cluster.ts"
import type { Told } from "../finding.ts"
import type { Plan, Rendered } from "../plan.ts"

/** Since this version a pod can sleep before it stops without a program of its own; the APIs' roles do. */
const versionMin = [1, 30] as const

export const versionCheck = ({ version }: Cluster): ReadonlyArray<Told> => {
  const [, major = "0", minor = "0"] = /^v?(\d+)\.(\d+)/u.exec(version ?? "") ?? []
  const isOld = Number(major) < versionMin[0] || (Number(major) === versionMin[0] && Number(minor) < versionMin[1])
  if (version === undefined || !isOld) return []
  return [
    {
      what: `Kubernetes is ${version}`,
      why: `preStop.sleep and matchLabelKeys need ${versionMin.join(".")} or later; an older one drops them, and callers meet pods that have stopped listening`,
      mend: "take a newer cluster"
    }
  ]
}

const enforceLabel = "pod-security.kubernetes.io/enforce"

export const namespaceCheck = ({ namespaces }: Cluster, { namespace, objects }: Plan): ReadonlyArray<Told> => {
  if (namespaces === undefined) return []
  const found = namespaces.find(({ metadata }) => metadata.name === namespace)
  // An overlay that brings its own namespace may be applied before the brokers' charts.
  const isInOverlay = objects.some(({ kind, metadata }) => kind === "Namespace" && metadata.name === namespace)
  if (found === undefined) {
    return [
      {
        what: `there is no namespace ${namespace}`,
        why: "the secrets and the brokers come into it before the overlay is applied",
        mend: isInOverlay
          ? `kubectl create namespace ${namespace}\nkubectl label namespace ${namespace} ${enforceLabel}=restricted`
          : `kubectl create namespace ${namespace}`
      }
    ]
  }
  if (found.metadata.labels?.[enforceLabel] === "restricted") return []
  return [
    {
      state: "advice",
      what: `namespace ${namespace} does not enforce pod security \`restricted\``,
      why: "every pod of ours keeps to it; without the label a pod that does not would be let in beside them",
      mend: `kubectl label namespace ${namespace} --overwrite ${enforceLabel}=restricted`
    }
  ]
}

interface Controller {
  readonly name: string
  /** The kinds that the overlay holds, with the API's name for them. */
  readonly kinds: Readonly<Record<string, string>>
  readonly isIt: (workload: Workload) => boolean
  /** The namespace in which the network policies expect it. */
  readonly namespaceIn: (plan: Plan) => string
  readonly why: string
  readonly install: string
}

const imageHas = (part: string) => (workload: Workload) =>
  containersOf(workload).some(({ image = "" }) => image.includes(part))
const containersOf = ({ spec }: Workload) => spec.template.spec.containers

const controllers: ReadonlyArray<Controller> = [
  {
    name: "NACK",
    kinds: { Stream: "streams.jetstream.nats.io", Consumer: "consumers.jetstream.nats.io" },
    isIt: imageHas("jetstream-controller"),
    namespaceIn: ({ namespace }) => namespace,
    why: "it makes the streams; without it every role waits for them",
    install:
      "helm install nack nats/nack --namespace starling --values nack-values.yaml   # docs/install-kubernetes.md has the values"
  },
  {
    name: "KEDA",
    kinds: { ScaledObject: "scaledobjects.keda.sh" },
    isIt: (workload) =>
      imageHas("/keda")(workload) && !imageHas("metrics")(workload) && !imageHas("webhooks")(workload),
    namespaceIn: () => "keda",
    why: "it says how many pods there are; without it each scaled role has one",
    install: "helm install keda kedacore/keda --namespace keda --create-namespace"
  },
  {
    name: "the Prometheus operator",
    kinds: { PodMonitor: "podmonitors.monitoring.coreos.com", PrometheusRule: "prometheusrules.monitoring.coreos.com" },
    isIt: imageHas("prometheus-operator"),
    namespaceIn: () => "monitoring",
    why: "it scrapes the pods and has the alerts; autoscaling asks its Prometheus",
    install:
      "helm install monitoring prometheus-community/kube-prometheus-stack --namespace monitoring --create-namespace --values monitoring-values.yaml"
  }
]

export const controllersCheck = (cluster: Cluster, plan: Plan): ReadonlyArray<Told> =>
  controllers.flatMap((controller) => {
    const wanted = Object.entries(controller.kinds).filter(([kind]) =>
      plan.objects.some((object) => object.kind === kind)
    )
    if (wanted.length === 0) return []
    const absent = wanted
      .filter(([, resource]) => cluster.resources?.includes(resource) === false)
      .map(([kind]) => kind)
    const kinds: ReadonlyArray<Told> =
      absent.length === 0
        ? []
        : [
            {
              what: `the cluster does not know ${absent.join(" and ")}, the kinds of ${controller.name}`,
              why: `kubectl refuses the overlay; ${controller.why}`,
              mend: controller.install
            }
          ]
    return [...kinds, ...runningOf(controller, cluster, plan)]
  })

const runningOf = (controller: Controller, { workloads }: Cluster, plan: Plan): ReadonlyArray<Told> => {
  if (workloads === undefined) return []
  const { name, why, install } = controller
  const found = workloads.filter((workload) => controller.isIt(workload))
  const place = controller.namespaceIn(plan)
  const here = found.find(({ metadata }) => metadata.namespace === place)
  if (found.length === 0) return [{ what: `${name} does not run`, why, mend: install }]
  if (here === undefined) {
    const places = found.map(({ metadata }) => metadata.namespace).join(", ")
    return [
      {
        what: `${name} runs in ${places}, not in ${place}`,
        why: "the network policies know it by its namespace and keep it out of any other",
        mend: `install it in ${place}, or name its namespace in the policies of your overlay`
      }
    ]
  }
  return [...notReady(here, name, why), ...(name === "NACK" ? nackFaults(here) : [])]
}

const notReady = (workload: Workload, name: string, why: string): ReadonlyArray<Told> => {
  const { name: called, namespace } = workload.metadata
  if ((workload.status?.readyReplicas ?? 0) > 0) return []
  return [
    {
      what: `no pod of ${name} is ready`,
      why,
      mend: `kubectl -n ${namespace} describe pods,${workload.kind.toLowerCase()} ${called}`
    }
  ]
}

/** NACK's needs: the brokers' permission, and notice of changes. */
const nackFaults = (workload: Workload): ReadonlyArray<Told> => {
  const parameters = containersOf(workload).flatMap(({ args = [], command = [] }) => [...command, ...args])
  const labels = (
    workload.spec.template as { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
  ).metadata?.labels
  return [
    ...(parameters.some((parameter) => /^--?control-loop(?:=true)?$/u.test(parameter))
      ? []
      : [
          {
            what: "NACK runs without --control-loop",
            why: "only with it are the streams made by the settings that the overlay names, and put right when somebody changes them",
            mend: "helm upgrade nack nats/nack --namespace starling --reuse-values --set jetstream.controlLoop=true"
          }
        ]),
    ...(labels?.["app.kubernetes.io/name"] === "nack"
      ? []
      : [
          {
            what: "NACK's pods have no label app.kubernetes.io/name=nack",
            why: "the brokers let it in by that label: without it every call times out and no stream is made",
            mend: "helm uninstall nack --namespace starling, and install it anew with --set useLegacyNames=false: labels of a Deployment cannot be changed"
          }
        ])
  ]
}

/** Processor triggers ask the metrics API, which a bare cluster lacks. */
export const metricsServerCheck = ({ resources }: Cluster, { objects }: Plan): ReadonlyArray<Told> => {
  const byCpu = objects.filter((object) => object.kind === "ScaledObject" && triggersOf(object).includes("cpu"))
  if (byCpu.length === 0 || resources === undefined || resources.includes("pods.metrics.k8s.io")) return []
  const names = byCpu.map(({ metadata }) => metadata.name).join(", ")
  return [
    {
      what: "the cluster has no metrics-server",
      why: `${names} are scaled by the processor, which is then unknown: their number of pods stays`,
      mend: "helm install metrics-server metrics-server/metrics-server --namespace kube-system"
    }
  ]
}

const triggersOf = (object: Rendered) =>
  ((object["spec"] as { readonly triggers?: ReadonlyArray<{ readonly type: string }> }).triggers ?? []).map(
    ({ type }) => type
  )

/** Whether the installed Prometheus selects our monitors and rules, and where autoscaling queries it. */
export const prometheusCheck = (cluster: Cluster, plan: Plan): ReadonlyArray<Told> => {
  const { services, prometheuses } = cluster
  const wanted = plan.objects.filter(({ kind }) => kind === "PodMonitor" || kind === "PrometheusRule")
  if (wanted.length === 0) return []
  const isAsked = JSON.stringify(plan.objects.filter(({ kind }) => kind === "ScaledObject")).includes(
    "prometheus-operated.monitoring"
  )
  const isThere = services?.some(({ metadata }) => metadata.name === "prometheus-operated") ?? true
  const service: ReadonlyArray<Told> =
    isThere || !isAsked
      ? []
      : [
          {
            what: "there is no service prometheus-operated in the namespace monitoring",
            why: "autoscaling asks it for backlogs, calls and streams; unanswered, each role stays at its fewest pods",
            mend: "run a Prometheus of the operator in `monitoring`, or change serverAddress in the overlay's ScaledObjects"
          }
        ]
  return [...service, ...(prometheuses ?? []).flatMap((prometheus) => unselected(prometheus, wanted))]
}

type Prometheus = NonNullable<Cluster["prometheuses"]>[number]

const unselected = (prometheus: Prometheus, wanted: ReadonlyArray<Rendered>): ReadonlyArray<Told> =>
  wanted.flatMap(({ kind, metadata }) => {
    const selector = kind === "PodMonitor" ? prometheus.spec.podMonitorSelector : prometheus.spec.ruleSelector
    const labels = Object.entries(selector?.matchLabels ?? {}).filter(
      ([key, value]) => metadata.labels?.[key] !== value
    )
    if (selector !== undefined && labels.length === 0) return []
    const said = labels.map(([key, value]) => `${key}=${value}`).join(",")
    return [
      {
        what:
          selector === undefined
            ? `Prometheus ${prometheus.metadata.name} takes no ${kind} at all`
            : `Prometheus ${prometheus.metadata.name} takes no ${kind} without ${said}, and ${metadata.name} has none`,
        why:
          kind === "PodMonitor"
            ? "nothing of the fleet is scraped, so nothing is scaled and no alert fires"
            : "its alerts never fire",
        mend:
          selector === undefined
            ? `give Prometheus ${prometheus.metadata.name} an empty selector ({}) for them`
            : `add these labels to ${kind} ${metadata.name} in your overlay, or let it select all:\nkubectl -n ${prometheus.metadata.namespace} patch prometheus ${prometheus.metadata.name} --type merge -p '{"spec":{"${kind === "PodMonitor" ? "podMonitorSelector" : "ruleSelector"}":{}}}'`
      }
    ]
  })
