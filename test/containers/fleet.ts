/**
 * The whole fleet in containers on a network of its own: three brokers, every role from the real image as its own user,
 * and the outside world. All of it is removed at the end of the test's session, whatever the result.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  GenericContainer,
  getContainerRuntimeClient,
  getReaper,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait
} from "testcontainers"
import { type RoleName, roleNames } from "#base"
import { roleDeployments } from "../../deploy/generate/roles.ts"
import { passwordOf } from "../support/fleet-broker.ts"
import { type Arrivals, arrivalsAt } from "./arrivals.ts"
import { type Broker, replicas, startBroker } from "./broker.ts"
import { configuration, secrets } from "./configuration.ts"
import { logOf, removeLabelled } from "./engine.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { imagesAreMade } from "./images.ts"
import { worldPorts } from "./world-places.ts"

export interface RunningRole {
  readonly role: RoleName
  readonly id: string
  readonly container: StartedTestContainer
  /** Of its API; none where it has none. */
  readonly url: string
  readonly ops: string
}

/** The addresses of its APIs, and the caller's token. */
export interface Callable {
  readonly of: (role: RoleName) => { readonly url: string }
  readonly token: string
}

/** What load and its reconciliation need of a fleet, wherever it runs. */
export interface LoadedFleet extends Callable {
  readonly broker: Pick<Broker, "connectAs" | "addressAs">
  readonly arrivals: Arrivals
  /** The EVM chain's. */
  readonly rpc: string
  /** The roles' warnings and errors, for a log that outlives them. */
  readonly faults: () => Promise<string>
  /** How many times longer things may take than in containers on this machine. */
  readonly patience: number
}

export interface Fleet extends LoadedFleet {
  readonly network: StartedNetwork
  readonly broker: Broker
  /** In the order they were started; some roles run more than once. */
  readonly roles: ReadonlyArray<RunningRole>
  readonly of: (role: RoleName) => RunningRole
  /** One more of a role, until it is stopped. */
  readonly another: (role: RoleName) => Promise<RunningRole>
}

const root = join(import.meta.dirname, "../..")
const inside = "/etc/starling/starling.config.json"
const opsPort = 9_400

const imageOf = (part: "fleet" | "speech") => `starling-${part}:${process.env["STARLING_IMAGES"] ?? "containers"}`

/** The engine asks this role for its health, as the image says. Asking all took a tenth of the processors of a run. */
export const askedForHealth: RoleName = "sweeper"
const hardlyEverMs = 86_400_000

const startWorld = async (network: StartedNetwork) => {
  // The fleet's image has Node; its user may not be able to read the tree.
  const started = await new GenericContainer(imageOf("fleet"))
    .withUser("0:0")
    .withEntrypoint(["node"])
    .withNetwork(network)
    .withNetworkAliases("world")
    .withBindMounts([{ source: root, target: "/src", mode: "ro" }])
    .withWorkingDir("/src")
    .withCommand(["test/containers/world.ts"])
    .withExposedPorts(...Object.values(worldPorts))
    .withWaitStrategy(Wait.forLogMessage("the world is there"))
    .withStartupTimeout(60_000)
    .start()
  return (port: number) => `http://${started.getHost()}:${started.getMappedPort(port)}`
}

// As in the deployment: not root, only /tmp to write to, and no more rights than its user's.
const startRole = async (
  role: RoleName,
  network: StartedNetwork,
  broker: Broker,
  config: string
): Promise<RunningRole> => {
  const deployment = roleDeployments.find(({ name }) => name === role)
  if (deployment === undefined) throw new Error(`no deployment of ${role}`)
  const { api } = deployment
  const [ops, port] = [await freePort(), await freePort()]
  const container = new GenericContainer(imageOf(deployment.image))
    .withNetwork(network)
    .withCommand(["role", role])
    .withTmpFs({ "/tmp": "size=1g,mode=1777,exec" })
    .withDroppedCapabilities("ALL")
    .withSecurityOpt("no-new-privileges:true")
    .withBindMounts([{ source: config, target: inside, mode: "ro" }])
    .withEnvironment({
      ...secrets,
      STARLING_CONFIG: inside,
      BUS_URL: broker.url,
      BUS_USER: role,
      BUS_PASSWORD: passwordOf(role),
      BUS_TOPOLOGY: "verify",
      BUS_REPLICAS: String(replicas),
      ...(api === undefined ? {} : { [`${api.section}_HOST`]: "0.0.0.0", [`${api.section}_PORT`]: String(api.port) }),
      ...(role === "model-gateway" ? { MODEL_GATEWAY_ORIGIN: `http://127.0.0.1:${port}` } : {})
    })
    .withExposedPorts(
      { container: opsPort, host: ops },
      ...(api === undefined ? [] : [{ container: api.port, host: port }])
    )
    .withWaitStrategy(Wait.forHttp("/readyz", opsPort).forStatusCode(200))
    .withStartupTimeout(90_000)
  if (role !== askedForHealth) container.withHealthCheck({ test: ["CMD", "true"], interval: hardlyEverMs })
  const started = await container.start()
  const host = started.getHost()
  return {
    role,
    id: started.getId(),
    container: started,
    url: api === undefined ? "" : `http://${host}:${port}`,
    ops: `http://${host}:${ops}`
  }
}

const faultsOf = async (roles: ReadonlyArray<RunningRole>) => {
  const told = roles.map(async ({ role, id }) => {
    const lines = (await logOf(id)).split("\n").filter((line) => /"level":"(?:WARN|ERROR|FATAL)"/u.test(line))
    return [`-- ${role}`, ...lines.slice(-20).map((line) => line.slice(0, 600)), ""].join("\n")
  })
  return (await Promise.all(told)).join("")
}

/** As an operator makes one, with the image's own command. */
const makeToken = async ({ container }: RunningRole) => {
  const env = { BUS_USER: "operator", BUS_PASSWORD: passwordOf("operator") }
  const { exitCode, stdout, stderr } = await container.exec(
    ["node", "/app/main.js", "token", "make", "--role", "owner"],
    { env }
  )
  if (exitCode !== 0) throw new Error(`no token was made: ${stderr}`)
  return stdout.trim()
}

const folders: Array<string> = []

const folder = () => {
  const made = mkdtempSync(join(tmpdir(), "starling-containers-"))
  folders.push(made)
  return made
}

export const startFleet = async (): Promise<Fleet> => {
  await imagesAreMade()
  const network = await new Network().start()
  const config = join(folder(), "starling.config.json")
  writeFileSync(config, JSON.stringify(configuration), { mode: 0o644 })
  const [broker, placeOf] = await Promise.all([startBroker(network), startWorld(network)])
  const roles = await Promise.all(roleNames.map((role) => startRole(role, network, broker, config)))
  const of = (role: RoleName) => {
    const found = roles.find((running) => running.role === role)
    if (found === undefined) throw new Error(`no ${role} runs here`)
    return found
  }
  return {
    network,
    broker,
    roles,
    of,
    another: (role) => startRole(role, network, broker, config),
    arrivals: arrivalsAt(placeOf(worldPorts.hooks)),
    rpc: placeOf(worldPorts.evm),
    faults: () => faultsOf(roles),
    patience: 1,
    token: await makeToken(of("pipeline-api"))
  }
}

/** By the id of this session: every container and network of it, also when it failed half-way. */
export const removeFleet = async () => {
  const { sessionId } = await getReaper(await getContainerRuntimeClient())
  await removeLabelled(`org.testcontainers.session-id=${sessionId}`)
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true })
}
