/** The total requests of the fleet and its brokers, as a table for the install guide. Pure. */
import { topology } from "#bus"
import { brokerRequests } from "./dev-broker.ts"
import { natsValues } from "./nats-values.ts"
import { operatorResources } from "./operator.ts"
import { type Amount, amountOf, cpuText, memoryText, nothing, plus, quantity, times } from "./quantity.ts"
import { fleetDeployments, optionalDeployments, type RoleDeployment } from "./roles.ts"
import { scaled } from "./scaling.ts"

interface Row {
  readonly name: string
  readonly pods: number
  /** Set when an autoscaler decides the number. */
  readonly podsMax?: number
  readonly each: Amount
  readonly diskBytesEach: number
}

const rowOf = ({ name, cpu, memory, replicas }: RoleDeployment): Row => {
  const scaling = scaled.find(({ role }) => role === name)
  return {
    name,
    pods: scaling?.min ?? replicas,
    ...(scaling === undefined ? {} : { podsMax: scaling.max }),
    each: amountOf({ cpu, memory }),
    diskBytesEach: 0
  }
}

const roleRows = fleetDeployments.map(rowOf)

const brokerRows: ReadonlyArray<Row> = natsValues(topology).map(({ name, values: { container, config } }) => ({
  name: `broker ${name}`,
  pods: config.cluster.replicas,
  each: amountOf(container.resources.requests),
  diskBytesEach: quantity(config.jetstream.fileStore.pvc.size)
}))

/** Markdown, as it stands in docs/install-kubernetes.md. */
export const requestsTable = (): ReadonlyArray<string> => {
  const rows = [...roleRows, ...brokerRows]
  const sum = sumOf(rows, ({ pods }) => pods)
  const most = sumOf(rows, ({ pods, podsMax }) => podsMax ?? pods)
  const dev = plus(
    sumOf(roleRows, () => 1),
    amountOf(brokerRequests)
  )
  const disk = rows.reduce((total, { pods, diskBytesEach }) => total + pods * diskBytesEach, 0)
  const operator = amountOf(operatorResources.requests)
  return [
    "| what | pods | CPU each | memory each | volume each |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map(
      ({ name, pods, podsMax, each, diskBytesEach }) =>
        `| ${name} | ${pods}${podsMax === undefined ? "" : ` to ${podsMax}`} | ${cpuText(each.cpu)} | ${memoryText(each.memoryBytes)} | ${diskBytesEach === 0 ? "-" : memoryText(diskBytesEach)} |`
    ),
    `| **prod, in sum** | ${rows.reduce((total, { pods }) => total + pods, 0)} | **${cpuText(sum.cpu)}** | **${memoryText(sum.memoryBytes)}** | **${memoryText(disk)}** |`,
    `| prod, every autoscaler at its end | ${rows.reduce((total, { pods, podsMax }) => total + (podsMax ?? pods), 0)} | ${cpuText(most.cpu)} | ${memoryText(most.memoryBytes)} | ${memoryText(disk)} |`,
    `| **dev, in sum** | ${roleRows.length + 1} | **${cpuText(dev.cpu)}** | **${memoryText(dev.memoryBytes)}** | - |`,
    ...optionalDeployments
      .map(rowOf)
      .map(
        ({ name, pods, each }) =>
          `| ${name}, where an overlay adds it | ${pods} | ${cpuText(each.cpu)} | ${memoryText(each.memoryBytes)} | - |`
      ),
    `| a pod for commands, while it runs | 1 | ${cpuText(operator.cpu)} | ${memoryText(operator.memoryBytes)} | - |`
  ]
}

const sumOf = (rows: ReadonlyArray<Row>, podsOf: (row: Row) => number): Amount =>
  rows.reduce((sum, row) => plus(sum, times(row.each, podsOf(row))), nothing)
