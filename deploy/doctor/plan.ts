/** What an overlay will ask of the cluster, read from its rendered objects. Pure. */
import { Result, Schema } from "effect"
import { topology } from "#bus"
import { type ConfigurationFile, decodeConfiguration } from "#configuration"
import type { Fault } from "#base"
import { natsValues } from "../generate/nats-values.ts"
import { Policy, Workload } from "./cluster.ts"
import { type Amount, amountOf, nothing, plus, times } from "../generate/quantity.ts"

/** An object as `kubectl kustomize` renders it. */
export interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly [key: string]: unknown
}

export interface Broker {
  readonly name: string
  readonly replicas: number
  readonly image: string
  readonly diskBytes: string
  readonly syncs: string
  readonly pod: Amount
}

export interface Plan {
  readonly namespace: string
  readonly objects: ReadonlyArray<Rendered>
  readonly workloads: ReadonlyArray<Workload>
  readonly policies: ReadonlyArray<Policy>
  /** Absent when it cannot be read: `faults` says why. */
  readonly configuration: ConfigurationFile | undefined
  readonly faults: ReadonlyArray<Fault>
  /** The brokers of the NATS charts, when the overlay has none of its own. */
  readonly brokers: ReadonlyArray<Broker>
  /** Users whose passwords a workload reads. */
  readonly users: ReadonlyArray<string>
  /** The least number of pods of each workload. */
  readonly pods: ReadonlyArray<{ readonly name: string; readonly count: number; readonly each: Amount }>
}

export const passwordsSecret = "starling-bus-passwords"

const decodeWorkload = Schema.decodeUnknownSync(Workload)
const decodePolicy = Schema.decodeUnknownSync(Policy)

export const planOf = (objects: ReadonlyArray<Rendered>): Plan => {
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind)
  const workloads = [...ofKind("Deployment"), ...ofKind("StatefulSet")].map((object) => decodeWorkload(object))
  const configured = decodeConfiguration(configurationIn(ofKind("ConfigMap")))
  const values = ofKind("Stream").length === 0 ? [] : natsValues(topology).map(({ values: chart }) => chart)
  const brokers = values.map(({ fullnameOverride: name, container, config }) => ({
    name,
    replicas: config.cluster.replicas,
    image: `${container.image.repository}:${container.image.tag}`,
    diskBytes: config.jetstream.fileStore.pvc.size,
    syncs: config.jetstream.merge.sync_interval,
    pod: amountOf(container.resources.requests)
  }))
  const scaled = new Map(ofKind("ScaledObject").map((object) => scaledFrom(object)))
  return {
    namespace: workloads[0]?.metadata.namespace ?? "default",
    objects,
    workloads,
    policies: ofKind("NetworkPolicy").map((object) => decodePolicy(object)),
    configuration: Result.getOrUndefined(configured),
    faults: Result.isFailure(configured) ? configured.failure : [],
    brokers,
    users: usersOf(
      workloads,
      values.map(({ container }) => container.env)
    ),
    pods: [
      ...workloads.map((workload) => ({
        name: workload.metadata.name,
        count: workload.spec.replicas ?? scaled.get(workload.metadata.name) ?? 1,
        each: requestsOf(workload)
      })),
      ...brokers.map(({ name, replicas, pod }) => ({ name, count: replicas, each: pod }))
    ]
  }
}

/** The sum over all pods, at their least number. */
export const sumOf = ({ pods }: Pick<Plan, "pods">): Amount =>
  pods.reduce((sum, { count, each }) => plus(sum, times(each, count)), nothing)

const requestsOf = (workload: Workload): Amount =>
  workload.spec.template.spec.containers.reduce(
    (sum, { resources }) => plus(sum, amountOf(resources?.requests ?? {})),
    nothing
  )

const configurationIn = (maps: ReadonlyArray<Rendered>): unknown => {
  const map = maps.find(({ metadata }) => metadata.name.startsWith("starling-configuration"))
  const data = map?.["data"] as Readonly<Record<string, string>> | undefined
  return Result.getOrElse(
    Result.try((): unknown => JSON.parse(data?.["starling.config.json"] ?? "")),
    () => "no JSON"
  )
}

const scaledFrom = (object: Rendered): readonly [string, number] => {
  const spec = object["spec"] as {
    readonly scaleTargetRef: { readonly name: string }
    readonly minReplicaCount?: number
  }
  return [spec.scaleTargetRef.name, spec.minReplicaCount ?? 0]
}

const usersOf = (
  workloads: ReadonlyArray<Workload>,
  chartEnvironments: ReadonlyArray<Readonly<Record<string, unknown>>>
): ReadonlyArray<string> => {
  const ofRoles = workloads.flatMap(({ spec }) =>
    spec.template.spec.containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => keyOf(valueFrom)))
  )
  const ofBrokers = chartEnvironments.flatMap((environment) =>
    Object.values(environment).flatMap((value) => keyOf((value as { readonly valueFrom?: KeyReference }).valueFrom))
  )
  return [...new Set([...ofRoles, ...ofBrokers])]
}

interface KeyReference {
  readonly secretKeyRef?: { readonly name: string; readonly key: string } | undefined
}

const keyOf = (from: KeyReference | undefined) =>
  from?.secretKeyRef?.name === passwordsSecret ? [from.secretKeyRef.key] : []
