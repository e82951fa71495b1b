/** The consumers of DELIVERIES as data: one per endpoint, or, with many endpoints, one per partition. */
import type { ConsumerDeclaration } from "#bus"
import { subjects } from "#contracts"
import type { EndpointSettings } from "./endpoint-settings.ts"

/**
 * A worker that dies is missed after this; its deliveries then go to another one. Work in progress is kept
 * alive by heartbeats, so this need not cover a receiver's timeout.
 */
export const ackWaitMs = 5_000

/** Deliveries in work per partition and process: a few for each of its endpoints, and a bound on memory. */
export const partitionUnackedMax = 512

export const endpointConsumer = (endpoint: EndpointSettings): ConsumerDeclaration => ({
  stream: "DELIVERIES",
  durable: `endpoint-${endpoint.id}`,
  filterSubjects: [subjects.deliveriesDueOf(endpoint.id)],
  unackedMax: endpoint.concurrency,
  ackWaitMs
})

export const partitionConsumer = (partition: number): ConsumerDeclaration => ({
  stream: "DELIVERIES",
  durable: `partition-${partition}`,
  filterSubjects: [subjects.deliveriesDueIn(partition)],
  unackedMax: partitionUnackedMax,
  ackWaitMs
})
