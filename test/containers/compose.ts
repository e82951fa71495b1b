/**
 * The fleet of `deploy/docker/compose.yaml`, with the outside world as one more service: a project and ports of its
 * own, and settings and secrets as an operator provides them. `remove` deletes all of it.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { roleNames } from "#base"
import { type Arrivals, arrivalsAt } from "./arrivals.ts"
import { secretsWithSolana as secrets, withSolana } from "./configuration.ts"
import type { Callable } from "./fleet.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { imagesAreMade } from "./images.ts"
import { worldPorts } from "./world-places.ts"

export interface ComposedFleet extends Callable {
  readonly arrivals: Arrivals
  readonly rpc: string
  readonly solanaRpc: string
  /** `docker compose` in this project; its standard output. Fails with the program's message. */
  readonly compose: (...parameters: ReadonlyArray<string>) => Promise<string>
  /** A single command of an operator's. */
  readonly operator: (...parameters: ReadonlyArray<string>) => Promise<string>
  readonly remove: () => Promise<void>
}

const root = join(import.meta.dirname, "../..")
const run = promisify(execFile)
const loopback = "127.0.0.1"

interface Ports {
  readonly "pipeline-api": number
  readonly "model-gateway": number
  readonly "speech-api": number
  readonly console: number
  readonly hooks: number
  readonly evm: number
  readonly solana: number
}

const only = (...names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, secrets[name]]))

const imagesTag = () => process.env["STARLING_IMAGES"] ?? "containers"

/** Each secret for its one role, as in the files beside compose.yaml. */
const withWorld = (ports: Ports) => ({
  services: {
    world: {
      // The fleet's image has Node; its user may not be able to read the tree.
      image: `starling-fleet:${imagesTag()}`,
      user: "0:0",
      entrypoint: ["node"],
      working_dir: "/src",
      command: ["test/containers/world.ts"],
      healthcheck: { disable: true },
      volumes: [`${root}:/src:ro`],
      ports: (["hooks", "evm", "solana"] as const).map((name) => `${loopback}:${ports[name]}:${worldPorts[name]}`)
    },
    // The world stays until its callers have drained.
    "webhook-dispatcher": { depends_on: ["world"], environment: only("HOOK_SECRET") },
    "payment-settler": {
      environment: only(...Object.keys(secrets).filter((name) => name.startsWith("SETTLER_")))
    },
    "model-gateway": { environment: { MODEL_GATEWAY_ORIGIN: `http://${loopback}:${ports["model-gateway"]}` } }
  }
})

const projectOf = (folder: string, ports: Ports) => {
  const world = join(folder, "world.yaml")
  const settings = join(folder, "starling.config.json")
  writeFileSync(world, JSON.stringify(withWorld(ports)))
  writeFileSync(settings, JSON.stringify(withSolana), { mode: 0o644 })
  const project = ["-p", `starling-${process.pid}`, "-f", "deploy/docker/compose.yaml", "-f", world]
  const env = {
    ...process.env,
    STARLING_TAG: imagesTag(),
    STARLING_SETTINGS: settings,
    STARLING_PIPELINE_PORT: String(ports["pipeline-api"]),
    STARLING_GATEWAY_PORT: String(ports["model-gateway"]),
    STARLING_SPEECH_PORT: String(ports["speech-api"]),
    STARLING_CONSOLE_PORT: String(ports.console)
  }
  return async (...parameters: ReadonlyArray<string>) => {
    const { stdout } = await run("docker", ["compose", ...project, ...parameters], { cwd: root, env })
    return stdout.trim()
  }
}

export const composeFleet = async (): Promise<ComposedFleet> => {
  await imagesAreMade()
  const folder = mkdtempSync(join(tmpdir(), "starling-compose-"))
  const ports = {
    "pipeline-api": await freePort(),
    "model-gateway": await freePort(),
    "speech-api": await freePort(),
    console: await freePort(),
    hooks: await freePort(),
    evm: await freePort(),
    solana: await freePort()
  }
  const compose = projectOf(folder, ports)
  const operator = (...parameters: ReadonlyArray<string>) =>
    compose("run", "--rm", "--no-deps", "-T", "operator", ...parameters)
  const remove = async () => {
    await compose("down", "--volumes", "--remove-orphans", "--timeout", "5")
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await compose("up", "--detach", "--no-build", "--wait", "--wait-timeout", "120")
    return {
      of: (role) => {
        if (!(role in ports)) throw new Error(`${role} has no port here; the roles are ${roleNames.join(", ")}`)
        return { url: `http://${loopback}:${ports[role as keyof Ports]}` }
      },
      token: await operator("token", "make", "--role", "owner"),
      arrivals: arrivalsAt(`http://${loopback}:${ports.hooks}`),
      rpc: `http://${loopback}:${ports.evm}`,
      solanaRpc: `http://${loopback}:${ports.solana}`,
      compose,
      operator,
      remove
    }
  } catch (error) {
    const logs = await compose("logs", "--no-color", "--tail", "20").catch(String)
    await remove()
    throw new Error(`the composed fleet did not get ready:\n${logs}`, { cause: error })
  }
}
