/** kubectl's answers, reduced to the fields that the doctor reads. Undefined means that a part could not be read. */
import { Schema } from "effect"

const Texts = Schema.Record(Schema.String, Schema.String)
const optional = Schema.optional
const Metadata = Schema.Struct({ name: Schema.String, namespace: optional(Schema.String), labels: optional(Texts) })

const Container = Schema.Struct({
  name: Schema.String,
  image: optional(Schema.String),
  args: optional(Schema.Array(Schema.String)),
  command: optional(Schema.Array(Schema.String)),
  env: optional(
    Schema.Array(
      Schema.Struct({
        name: Schema.String,
        value: optional(Schema.String),
        valueFrom: optional(
          Schema.Struct({ secretKeyRef: optional(Schema.Struct({ name: Schema.String, key: Schema.String })) })
        )
      })
    )
  ),
  envFrom: optional(
    Schema.Array(Schema.Struct({ secretRef: optional(Schema.Struct({ name: optional(Schema.String) })) }))
  ),
  resources: optional(
    Schema.Struct({
      requests: optional(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite])))
    })
  )
})
const Template = Schema.Struct({
  metadata: optional(Schema.Struct({ labels: optional(Texts) })),
  spec: Schema.Struct({ containers: Schema.Array(Container) })
})

export const Workload = Schema.Struct({
  kind: Schema.String,
  metadata: Metadata,
  spec: Schema.Struct({ replicas: optional(Schema.Int), template: Template }),
  status: optional(Schema.Struct({ readyReplicas: optional(Schema.Int) }))
})
export interface Workload extends Schema.Schema.Type<typeof Workload> {}

const Selector = Schema.Struct({
  matchLabels: optional(Texts),
  matchExpressions: optional(Schema.Array(Schema.Unknown))
})
const Peer = Schema.Struct({
  ipBlock: optional(Schema.Struct({ cidr: Schema.String, except: optional(Schema.Array(Schema.String)) })),
  namespaceSelector: optional(Selector),
  podSelector: optional(Selector)
})
export const Policy = Schema.Struct({
  kind: Schema.String,
  metadata: Metadata,
  spec: Schema.Struct({
    podSelector: Selector,
    policyTypes: optional(Schema.Array(Schema.String)),
    ingress: optional(Schema.Array(Schema.Struct({ from: optional(Schema.Array(Peer)) }))),
    egress: optional(Schema.Array(Schema.Struct({ to: optional(Schema.Array(Peer)) })))
  })
})
export interface Policy extends Schema.Schema.Type<typeof Policy> {}

const Keys = Schema.Struct({ metadata: Metadata, data: optional(Texts) })
const listOf = <S extends Schema.Top>(item: S) => Schema.Struct({ items: Schema.Array(item) })

export const answers = {
  version: Schema.Struct({ serverVersion: Schema.Struct({ gitVersion: Schema.String }) }),
  namespaces: listOf(Schema.Struct({ metadata: Metadata })),
  workloads: listOf(Workload),
  secrets: listOf(Keys),
  configMaps: listOf(Keys),
  policies: listOf(Policy),
  storageClasses: listOf(
    Schema.Struct({ metadata: Schema.Struct({ name: Schema.String, annotations: optional(Texts) }) })
  ),
  nodes: listOf(
    Schema.Struct({
      metadata: Metadata,
      spec: Schema.Struct({
        unschedulable: optional(Schema.Boolean),
        taints: optional(Schema.Array(Schema.Struct({ key: Schema.String, effect: Schema.String })))
      }),
      status: Schema.Struct({ allocatable: Schema.Record(Schema.String, Schema.String) })
    })
  ),
  services: listOf(Schema.Struct({ metadata: Metadata })),
  prometheuses: listOf(
    Schema.Struct({
      metadata: Metadata,
      spec: Schema.Struct({
        podMonitorSelector: optional(Selector),
        ruleSelector: optional(Selector),
        podMonitorNamespaceSelector: optional(Selector),
        ruleNamespaceSelector: optional(Selector)
      })
    })
  )
} as const

type Items<Name extends keyof typeof answers> = (typeof answers)[Name]["Type"] extends {
  readonly items: infer All
}
  ? All
  : never

export interface Cluster {
  readonly version: string | undefined
  /** Names such as `streams.jetstream.nats.io`. */
  readonly resources: ReadonlyArray<string> | undefined
  readonly namespaces: Items<"namespaces"> | undefined
  /** Deployments and StatefulSets of every namespace. */
  readonly workloads: Items<"workloads"> | undefined
  /** The secrets of the fleet's namespace: keys, and values as base64. */
  readonly secrets: Items<"secrets"> | undefined
  readonly configMaps: Items<"configMaps"> | undefined
  readonly policies: Items<"policies"> | undefined
  readonly storageClasses: Items<"storageClasses"> | undefined
  readonly nodes: Items<"nodes"> | undefined
  /** The services of the namespace `monitoring`. */
  readonly services: Items<"services"> | undefined
  readonly prometheuses: Items<"prometheuses"> | undefined
  /** The requests of existing pods: their namespace, their node, and the amounts. */
  readonly requested: ReadonlyArray<PodRequest> | undefined
}

export interface PodRequest {
  readonly namespace: string
  readonly node: string
  readonly cpu: number
  readonly memoryBytes: number
}

/** The text of a secret's key. */
export const secretText = ({ secrets }: Cluster, name: string, key: string): string | undefined => {
  const value = secrets?.find(({ metadata }) => metadata.name === name)?.data?.[key]
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8")
}
