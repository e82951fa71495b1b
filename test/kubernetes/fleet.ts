/** A fleet on the cluster as its operator has it: an overlay applied, commands run in a pod, calls made from outside. */
import { until } from "../../dev/fixtures/eventually.ts"
import type { Arrival } from "../containers/arrivals.ts"
import { kubectl } from "./kubectl.ts"
import { namespaceOf, type OverlayName } from "./house.ts"
import { send, worldName } from "./outside.ts"
import type { Order } from "./errand.ts"

export const apply = (folder: string) => kubectl("apply", "-k", folder)

/** The broker for the commands of a pod, and their user. */
export type BrokerAs = Readonly<Record<string, string>>

export interface ClusterFleet {
  readonly namespace: string
  /** A command of the image, in a pod of the fleet; its standard output. */
  readonly command: (...parameters: ReadonlyArray<string>) => Promise<string>
  /** Sends the caller; see errand.ts. */
  readonly send: <A>(errand: string, order: Partial<Order>) => Promise<A>
}

export const fleetOn = (overlay: OverlayName, broker: BrokerAs): ClusterFleet => {
  const namespace = namespaceOf(overlay)
  const variables = Object.entries(broker).map(([name, value]) => `${name}=${value}`)
  const inPod = (...parameters: ReadonlyArray<string>) =>
    kubectl("-n", namespace, "exec", "deployment/pipeline-api", "--", ...parameters)
  return {
    namespace,
    command: async (...parameters) => (await inPod("env", ...variables, "node", "/app/main.js", ...parameters)).trim(),
    send: (errand, order) => send(errand, { namespace, world: worldName, ...order })
  }
}

// A first attempt that fails is made again after some seconds.
const arrivesWithinMs = 60_000

/** Publishes an event, and returns its sequence in the stream. */
export const publishOne = async (fleet: ClusterFleet, event: string): Promise<number> => {
  const said = await fleet.command("publish", event, "--example")
  const sequence = Number(/stored as (\d+) in EVENTS/u.exec(said)?.[1])
  if (Number.isNaN(sequence)) throw new Error(`nothing was published: ${said}`)
  return sequence
}

/** Publishes an event, and returns the delivery that the receiver was sent. */
export const deliverOne = async (fleet: ClusterFleet, event: string, endpoint: string): Promise<Arrival> => {
  const sequence = await publishOne(fleet, event)
  const came = async () =>
    (await fleet.send<ReadonlyArray<Arrival>>("arrivals", {})).find(
      (arrival) => arrival.sequence === sequence && arrival.endpoint === endpoint
    )
  let found: Arrival | undefined
  await until(async () => (found = await came()) !== undefined, { withinMs: arrivesWithinMs })
  if (found === undefined) throw new Error(`event ${sequence} did not arrive`)
  return found
}
