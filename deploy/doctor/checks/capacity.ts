/** Whether the nodes have the pods' requests free, and volumes have a class. Pure. */
import type { Cluster } from "../cluster.ts"
import type { Told } from "../finding.ts"
import { type Plan, sumOf } from "../plan.ts"
import { type Amount, amountOf, cpuText, memoryText, nothing, plus } from "../../generate/quantity.ts"

export const capacityCheck = (cluster: Cluster, plan: Plan): ReadonlyArray<Told> => {
  const { nodes, requested } = cluster
  if (nodes === undefined || requested === undefined) return []
  const open = nodes.filter(
    ({ spec }) =>
      spec.unschedulable !== true && !(spec.taints ?? []).some(({ effect }) => effect !== "PreferNoSchedule")
  )
  // The fleet's present requests are not counted as others', for it will ask for the same again.
  const others = requested.filter(({ namespace }) => namespace !== plan.namespace)
  const free = open.map(({ metadata, status }) => {
    const taken = others.filter(({ node }) => node === metadata.name).reduce<Amount>(plus, nothing)
    const { cpu, memoryBytes } = amountOf(status.allocatable)
    return { cpu: Math.max(0, cpu - taken.cpu), memoryBytes: Math.max(0, memoryBytes - taken.memoryBytes) }
  })
  const sum = free.reduce<Amount>(plus, nothing)
  const wanted = sumOf(plan)
  return [...tooLittle(sum, wanted), ...tooLarge(free, plan), ...spread(open.length, plan)]
}

const mend = "add nodes, or make requests smaller in your overlay and in the brokers' values"

const tooLittle = (free: Amount, wanted: Amount): ReadonlyArray<Told> => {
  if (wanted.cpu <= free.cpu && wanted.memoryBytes <= free.memoryBytes) return []
  return [
    {
      what: `the fleet and its brokers ask for ${cpuText(wanted.cpu)} processors and ${memoryText(wanted.memoryBytes)}, and ${cpuText(free.cpu)} and ${memoryText(free.memoryBytes)} are free`,
      why: "some pods stay Pending",
      mend
    }
  ]
}

const tooLarge = (free: ReadonlyArray<Amount>, { pods }: Plan): ReadonlyArray<Told> =>
  pods
    .filter(({ each }) => !free.some(({ cpu, memoryBytes }) => each.cpu <= cpu && each.memoryBytes <= memoryBytes))
    .map(({ name, each }) => ({
      what: `no node has ${cpuText(each.cpu)} processors and ${memoryText(each.memoryBytes)} free together, which one pod of ${name} asks for`,
      why: "it stays Pending",
      mend
    }))

/** Pods of a role never share a node, nor do a broker's servers. */
const spread = (nodeCount: number, { pods }: Plan): ReadonlyArray<Told> => {
  const most = Math.max(0, ...pods.map(({ count }) => count))
  const widest = pods.filter(({ count }) => count === most).map(({ name }) => name)
  // The spread lets a node have one more than the emptiest, so that two nodes carry three servers.
  if (nodeCount >= Math.min(most, 2)) {
    if (nodeCount >= most || most < 3) return []
    return [
      {
        state: "advice",
        what: `${widest.join(", ")} have ${most} pods, and there are ${nodeCount} nodes to run them`,
        why: "a node that is lost takes two servers of three, and with them every stream until one is back",
        mend: `run ${most} nodes or more, in zones of their own`
      }
    ]
  }
  return [
    {
      what: `there is ${nodeCount === 0 ? "no node" : "one node"} that takes pods`,
      why: "two pods of a role never share a node, so the second stays Pending and no rollout ends",
      mend: `run ${Math.max(2, most)} nodes, or one pod of each as in overlays/dev`
    }
  ]
}

const isDefault = "storageclass.kubernetes.io/is-default-class"

export const storageCheck = ({ storageClasses }: Cluster, { brokers, namespace }: Plan): ReadonlyArray<Told> => {
  if (storageClasses === undefined || brokers.length === 0) return []
  if (storageClasses.some(({ metadata }) => metadata.annotations?.[isDefault] === "true")) return []
  const names = storageClasses.map(({ metadata }) => metadata.name)
  const volumes = brokers.map(({ name, replicas, diskBytes }) => `${name}: ${replicas} of ${diskBytes}`).join(", ")
  return [
    {
      what: `the cluster has no default storage class${names.length === 0 ? ", and no other" : `; there are ${names.join(", ")}`}`,
      why: `the brokers' volumes name none (${volumes}): they stay Pending, and the brokers with them`,
      mend:
        names.length === 0
          ? "install a provisioner of volumes"
          : `kubectl patch storageclass ${names[0]} -p '{"metadata":{"annotations":{"${isDefault}":"true"}}}'\nor name one in the values: config.jetstream.fileStore.pvc.storageClassName, and helm upgrade in ${namespace}`
    }
  ]
}
