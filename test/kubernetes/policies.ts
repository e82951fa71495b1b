/** For each network policy of an overlay, connections that it admits and ones that it must not. */
import { fleetDeployments, type RoleDeployment } from "../../deploy/generate/roles.ts"
import { namespaceOf, type OverlayName } from "./house.ts"
import { addressOf, caller, type Pod, type Port, reached, scraper, stranger, strangerPorts } from "./reach.ts"

/** One connection, and whether it must come about. */
export interface Tried {
  readonly from: Pod
  readonly to: Port
  readonly passes: boolean
  readonly says: string
}

const busPort = 4_222
const brokerMonitorPort = 8_222
const metricsPort = 9_400

/** The addresses of the pods that the connections lead to. */
export interface Places {
  readonly overlay: OverlayName
  readonly roles: Readonly<Record<string, string>>
  readonly broker: string
  readonly stranger: string
}

export const placesOf = async (overlay: OverlayName): Promise<Places> => {
  const fleet = namespaceOf(overlay)
  const addresses = fleetDeployments.map(async ({ name }) => {
    return [name, await addressOf(fleet, `app.kubernetes.io/name=${name}`)] as const
  })
  return {
    overlay,
    roles: Object.fromEntries(await Promise.all(addresses)),
    broker: await addressOf(fleet, "app.kubernetes.io/name=nats"),
    stranger: await addressOf(stranger.namespace, "app=stranger")
  }
}

type Tries = ReadonlyArray<Tried>

const podOf = ({ overlay }: Places, role: string): Pod => ({
  namespace: namespaceOf(overlay),
  workload: `deployment/${role}`
})

const eachRole = (places: Places, tries: (name: string, pod: Pod, address: string) => Tries): Tries =>
  fleetDeployments.flatMap(({ name }) => tries(name, podOf(places, name), places.roles[name] ?? ""))

const denyAll = (places: Places): Tries => {
  const { other } = strangerPorts
  const listens = { address: places.stranger, port: other }
  return [
    { from: scraper, to: listens, passes: true, says: "another namespace reaches a listening stranger" },
    ...eachRole(places, (name, from) => [{ from, to: listens, passes: false, says: `${name} reaches a stranger` }])
  ]
}

const metrics = (places: Places): Tries =>
  eachRole(places, (name, _, address) => {
    const to = { address, port: metricsPort }
    return [
      { from: scraper, to, passes: true, says: `the scraper reaches the metrics of ${name}` },
      { from: stranger, to, passes: false, says: `a stranger reaches the metrics of ${name}` },
      { from: caller, to, passes: false, says: `a caller of the APIs reaches the metrics of ${name}` }
    ]
  })

const busAndNames = (places: Places): Tries =>
  eachRole(places, (name, from) => [
    { from, to: { address: places.broker, port: busPort }, passes: true, says: `${name} reaches the broker` },
    {
      from,
      to: { address: places.broker, port: brokerMonitorPort },
      passes: false,
      says: `${name} reaches the broker's monitor`
    }
  ])

const wayOut =
  (role: string) =>
  (places: Places): Tries =>
    (["http", "https"] as const).map((scheme) => ({
      from: podOf(places, role),
      to: { address: places.stranger, port: strangerPorts[scheme] },
      passes: false,
      says: `${role} reaches a private address on the port of ${scheme}`
    }))

/** `isClosed`: until an overlay names its callers. */
const callersOf =
  (role: string, api: NonNullable<RoleDeployment["api"]>) =>
  (places: Places): Tries => {
    const to = { address: places.roles[role] ?? "", port: api.port }
    const isClosed = api.isClosed === true
    // A development cluster is open to all its namespaces.
    const isOpen = places.overlay === "dev" && !isClosed
    return [
      { from: caller, to, passes: !isClosed, says: `the edge reaches ${role}` },
      { from: stranger, to, passes: isOpen, says: `a stranger reaches ${role}` }
    ]
  }

const broker = (places: Places): Tries => {
  const to = (port: number) => ({ address: places.broker, port })
  const closed = [busPort, 6_222, 7_222, 7_777, brokerMonitorPort].map((port) => ({
    from: stranger,
    to: to(port),
    passes: false,
    says: `a stranger reaches the broker on ${port}`
  }))
  return [
    ...closed,
    { from: scraper, to: to(brokerMonitorPort), passes: true, says: "the scraper reaches the broker's monitor" },
    { from: scraper, to: to(busPort), passes: false, says: "the scraper reaches the bus" }
  ]
}

/** By the policy's name. */
export const policyTries = (overlay: OverlayName): ReadonlyMap<string, (places: Places) => Tries> => {
  const ofRoles = fleetDeployments.flatMap(({ name, api, callsOut }) => [
    ...(api === undefined ? [] : [[`${name}-callers`, callersOf(name, api)] as const]),
    ...(callsOut ? [[`${name}-way-out`, wayOut(name)] as const] : [])
  ])
  const ofBroker = overlay === "prod" ? [["nats", broker] as const] : []
  return new Map([["deny-all", denyAll], ["metrics", metrics], ["bus-and-names", busAndNames], ...ofRoles, ...ofBroker])
}

/** The connections that came about against a policy, and those that should have and did not. */
export const breaches = async (tries: Tries): Promise<ReadonlyArray<string>> => {
  const byPod = Map.groupBy(tries, ({ from }) => `${from.namespace}/${from.workload}`)
  const found: Array<string> = []
  // One after the other: a try that ran out of time for want of a processor would pass for a closed port.
  for (const those of byPod.values()) {
    const from = those[0]?.from
    if (from === undefined) continue
    const passed = await reached(
      from,
      those.map(({ to }) => to)
    )
    for (const [at, { passes, says }] of those.entries()) {
      if (passed[at] !== passes) found.push(passes ? `not seen: ${says}` : `seen: ${says}`)
    }
  }
  return found
}
