/** The Docker engine: actions on a container that a test library lacks. */
import { getContainerRuntimeClient } from "testcontainers"

const dockerode = async () => (await getContainerRuntimeClient()).container.dockerode

const container = async (id: string) => (await dockerode()).getContainer(id)

export const kill = async (id: string, signal: NodeJS.Signals = "SIGKILL") => (await container(id)).kill({ signal })

/** After it has ended, with the data on its disk. */
export const startAgain = async (id: string) => (await container(id)).start()

export const pause = async (id: string) => (await container(id)).pause()
export const unpause = async (id: string) => (await container(id)).unpause()

/** Resolves with its exit code. */
export const ended = async (id: string): Promise<number> => {
  const { StatusCode } = (await (await container(id)).wait()) as { readonly StatusCode: number }
  return StatusCode
}

/** What the engine found when it last asked for its health: `starting`, `healthy` or `unhealthy`. */
export const healthOf = async (id: string): Promise<string | undefined> =>
  (await (await container(id)).inspect()).State.Health?.Status

export const cutOff = async (id: string, networkId: string) =>
  (await dockerode()).getNetwork(networkId).disconnect({ Container: id, Force: true })

export const bringBack = async (id: string, networkId: string, alias: string) =>
  (await dockerode()).getNetwork(networkId).connect({ Container: id, EndpointConfig: { Aliases: [alias] } })

export const logOf = async (id: string): Promise<string> => {
  const log = await (await container(id)).logs({ stdout: true, stderr: true, tail: 4_000, follow: false })
  return log.toString("utf8")
}

/** Everything that bears this label, stopped or not: containers first, for a network holds on while one is in it. */
export const removeLabelled = async (label: string) => {
  const docker = await dockerode()
  const filters = { label: [label] }
  const containers = await docker.listContainers({ all: true, filters })
  await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })))
  const networks = await docker.listNetworks({ filters })
  await Promise.all(networks.map(({ Id }) => docker.getNetwork(Id).remove()))
}
