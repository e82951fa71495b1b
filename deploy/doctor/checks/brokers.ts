/** The brokers that the charts install: present, ready, and as the values say. Pure. */
import type { Cluster, Workload } from "../cluster.ts"
import type { Told } from "../finding.ts"
import type { Broker, Plan } from "../plan.ts"

export const brokersCheck = (cluster: Cluster, plan: Plan): ReadonlyArray<Told> => {
  if (cluster.workloads === undefined) return []
  const sets = cluster.workloads.filter(
    ({ kind, metadata }) => kind === "StatefulSet" && metadata.namespace === plan.namespace
  )
  return plan.brokers.flatMap((broker) => {
    const install = `helm upgrade --install ${broker.name} nats/nats --namespace ${plan.namespace} --values deploy/k8s/nats/values-${broker.name}.yaml`
    const found = sets.find(({ metadata }) => metadata.name === broker.name)
    if (found !== undefined) return faultsOf(found, broker, cluster, install)
    return [
      { what: `the broker ${broker.name} is not installed in ${plan.namespace}`, why: whyOf(broker), mend: install }
    ]
  })
}

const whyOf = ({ syncs }: Broker) =>
  syncs === "always" ? "money is kept there: nothing paid is sold without it" : "every role waits for it"

const faultsOf = (found: Workload, broker: Broker, cluster: Cluster, install: string): ReadonlyArray<Told> => {
  const { name, replicas, image } = broker
  const [ready, has] = [found.status?.readyReplicas ?? 0, found.spec.replicas ?? 1]
  const server = found.spec.template.spec.containers.find((container) => container.name === "nats")
  const serverName = server?.env?.find((variable) => variable.name === "SERVER_NAME")?.value
  return [
    ...(has === replicas
      ? []
      : [
          {
            what: `${name} has ${has} servers, not ${replicas}`,
            why: `streams with three replicas find no place`,
            mend: install
          }
        ]),
    ...(ready >= has
      ? []
      : [
          {
            what: `${ready} of ${has} servers of ${name} are ready`,
            why: whyOf(broker),
            mend: `kubectl -n ${found.metadata.namespace} describe pods -l app.kubernetes.io/instance=${name}`
          }
        ]),
    ...(server?.image === undefined || server.image.endsWith(image)
      ? []
      : [
          {
            state: "advice" as const,
            what: `${name} runs ${server.image}, not ${image}`,
            why: "that version is the one this release was tried with",
            mend: install
          }
        ]),
    ...(serverName === undefined || serverName === "$(POD_NAME)"
      ? []
      : [
          {
            what: `the servers of ${name} are called ${serverName}, not after their pods`,
            why: "autoscaling looks for a consumer's leader by the pods' names, and finds none",
            mend: `leave config.serverNamePrefix out of the values\n${install}`
          }
        ]),
    ...configurationFaults(broker, cluster, install)
  ]
}

/** The chart keeps the server's file in a ConfigMap of its own. */
const configurationFaults = (
  { name, syncs }: Broker,
  { configMaps }: Cluster,
  install: string
): ReadonlyArray<Told> => {
  const text = configMaps?.find(({ metadata }) => metadata.name === `${name}-config`)?.data?.["nats.conf"]
  if (text === undefined) return []
  return [
    ...(/"?user"?\s*:\s*"?operator\b/u.test(text)
      ? []
      : [
          {
            what: `${name} does not know the fleet's users`,
            why: "no role is let in as itself, or everybody is let in",
            mend: install
          }
        ]),
    ...(syncs !== "always" || /"?sync_interval"?\s*:\s*"?always/u.test(text)
      ? []
      : [
          {
            what: `${name} does not write to its disk before it confirms`,
            why: "a payment that was confirmed could be forgotten with the power",
            mend: install
          }
        ])
  ]
}
