/**
 * Which consumers of DELIVERIES the endpoints need. Up to PartitionsAbove endpoints have one each: the broker keeps
 * their backlog, concurrency and pauses, so no endpoint can affect another. More endpoints than the broker handles well
 * with a consumer each share one per partition. Pure.
 */
import type { ConsumerDeclaration } from "#bus"
import { deliveryPartitions } from "#webhooks/contract"
import { deliveryStream, orderedPartition, subjects } from "#base"
import type { EndpointSettings } from "./endpoints/settings.ts"
import type { DeliveryLanes } from "./lanes.ts"
import { heldMax } from "./order/queue.ts"

interface Declaring {
  readonly endpoints: { readonly all: () => ReadonlyArray<EndpointSettings> }
  readonly lanes: Pick<DeliveryLanes["Service"], "all" | "state">
  readonly partitionsAbove: number
}

/**
 * A dead worker is noticed after this; its deliveries then go to another one. Heartbeats keep work in progress alive,
 * so this need not cover a receiver's timeout.
 */
const ackWaitMs = 5_000
/** Many are held, each with a heartbeat; a dead taker's consumer is replaced, whatever its deliveries wait for. */
const orderedAckWaitMs = 10_000

/** Deliveries in work per partition and process: a few for each of its endpoints, and a bound on memory. */
const partitionUnackedMax = 512

export const durableOf = (endpointId: string) => `endpoint-${endpointId}`

export const orderedDurableOf = (endpointId: string) => `ordered-${endpointId}`

export const isOrdered = (durable: string) => durable.startsWith("ordered-")

/** The endpoint of a consumer of its own. */
export const endpointOf = (durable: string) => durable.slice(durable.indexOf("-") + 1)

export const partitionDurableOf = (partition: number) => `partition-${partition}`

export const keyOf = ({ stream, durable }: Pick<ConsumerDeclaration, "stream" | "durable">) => `${stream} ${durable}`

/**
 * The consumers that the endpoints need: one for each, or one for each partition, in its lane, and wherever deliveries
 * were left; while endpoints move, in every lane, so that no lane holds anything without a consumer. An ordered
 * endpoint always has one of its own, in the process that takes it.
 */
export const declaredConsumers = (
  { endpoints, lanes, partitionsAbove }: Declaring,
  isTaken: (endpoint: EndpointSettings) => boolean,
  strays: ReadonlySet<string> = new Set()
): ReadonlyArray<ConsumerDeclaration> => {
  const all = endpoints.all()
  const { count, before, cursors } = lanes.state()
  const isMoving = before !== undefined || cursors.some((cursor) => cursor?.left !== undefined)
  const inPartitions = all.length > partitionsAbove
  return lanes.all.flatMap((lane) => {
    const isNeeded = (partition: number, consumer: ConsumerDeclaration) =>
      isMoving || partition % count === lane || strays.has(keyOf(consumer))
    const ofPartitions = inPartitions
      ? partitionConsumers(lane).filter((consumer, partition) => isNeeded(partition, consumer))
      : []
    const own = all.flatMap((endpoint) => {
      if (inPartitions && endpoint.orderKey === undefined && strays.size === 0) return []
      const consumer = consumerOf(endpoint, lane, inPartitions)
      if (endpoint.orderKey !== undefined) {
        return isTaken(endpoint) && isNeeded(endpoint.partition, consumer) ? [consumer] : []
      }
      return (inPartitions ? strays.has(keyOf(consumer)) : isNeeded(endpoint.partition, consumer)) ? [consumer] : []
    })
    return [...ofPartitions, ...own]
  })
}

/** In partitions an endpoint without an order has one only where deliveries were left from an order. */
const consumerOf = (endpoint: EndpointSettings, lane: number, inPartitions: boolean): ConsumerDeclaration => {
  const { dueOf, due } = subjects.deliveries(lane)
  const isOfOrder = inPartitions || endpoint.orderKey !== undefined
  return {
    stream: deliveryStream(lane),
    durable: isOfOrder ? orderedDurableOf(endpoint.id) : durableOf(endpoint.id),
    filterSubjects: [inPartitions ? due(orderedPartition, endpoint.id) : dueOf(endpoint.id)],
    unackedMax: endpoint.orderKey === undefined ? endpoint.concurrency : heldMax + 2 * endpoint.concurrency,
    ackWaitMs: endpoint.orderKey === undefined ? ackWaitMs : orderedAckWaitMs
  }
}

const partitionConsumers = (lane: number): ReadonlyArray<ConsumerDeclaration> =>
  Array.from({ length: deliveryPartitions }, (_, partition) => ({
    stream: deliveryStream(lane),
    durable: partitionDurableOf(partition),
    filterSubjects: [subjects.deliveries(lane).dueIn(partition)],
    unackedMax: partitionUnackedMax,
    ackWaitMs
  }))
