/**
 * The cluster for the tests of this folder: on this machine alone, with three nodes, and with real API server, scheduler,
 * kubelets and enforced network policies. A tool beside the checkout starts it, loads images and deletes it.
 */
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

export const root = join(import.meta.dirname, "../..")
const run = promisify(execFile)

export const clusterTool = process.env["STARLING_CLUSTER_TOOL"] ?? join(root, "../shared/tools/offline-k8s.sh")

/** Where the tool keeps programs, sockets and the way to its API server. */
export const workFolder = process.env["WORK"] ?? "/var/tmp/offline-k8s"

export const firstNode = "node1"
export const lastNode = "node3"
export const nodes = [firstNode, "node2", lastNode] as const

/** Where the tool's packed programs are, and with them helm, charts and controllers: see production/controllers.ts. */
const cacheFolder = process.env["CACHE"] ?? join(clusterTool, "../kubernetes")
export const partsFolder = process.env["STARLING_CLUSTER_PARTS"] ?? cacheFolder

/**
 * Three nodes, so that one can be drained and a role can have three pods. Each claims sixteen processors: production's
 * requests are scheduled, and share the real ones.
 */
const shape = { NODES: String(nodes.length), CPUS: "16" }

// A busy machine builds uncached images for an hour; a cluster starts within a minute or two.
const toolWithinMs = 90 * 60_000
const outputBytesMax = 64 * 1_024 * 1_024

export const clusterEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...shape,
  WORK: workFolder,
  KUBECONFIG: join(workFolder, "kubeconfig"),
  PATH: [join(workFolder, "bin"), partsFolder, process.env["PATH"] ?? ""].join(":"),
  ...(existsSync(cacheFolder) ? { CACHE: cacheFolder } : {})
})

/** Runs a program with the cluster's own ones before the machine's. Fails with the program's message. */
export const within = async (
  command: string,
  parameters: ReadonlyArray<string>,
  {
    withinMs = 120_000,
    input,
    folder = root
  }: { readonly withinMs?: number; readonly input?: string; readonly folder?: string } = {}
): Promise<string> => {
  const running = run(command, [...parameters], {
    cwd: folder,
    env: clusterEnvironment(),
    timeout: withinMs,
    maxBuffer: outputBytesMax
  })
  running.child.stdin?.end(input)
  try {
    return (await running).stdout
  } catch (error) {
    const {
      stderr = "",
      stdout = "",
      killed = false
    } = error as Partial<Record<"stderr" | "stdout", string>> & {
      readonly killed?: boolean
    }
    const why = killed ? `not done within ${withinMs / 1_000} s` : `${stderr}${stdout}`.trim().slice(-3_000)
    throw new Error(`${command} ${parameters.slice(0, 6).join(" ")}: ${why}`, { cause: error })
  }
}

export const tool = (...parameters: ReadonlyArray<string>) =>
  within(clusterTool, parameters, { withinMs: toolWithinMs })

export const stands = () =>
  within("kubectl", ["get", "--raw", "/readyz"], { withinMs: 10_000 }).then(
    () => true,
    () => false
  )

const ctr = (node: string, ...parameters: ReadonlyArray<string>) =>
  within("ctr", ["-a", join(workFolder, "run", `${node}.sock`), "-n", "k8s.io", "images", ...parameters], {
    withinMs: 900_000
  })

const importTries = 3

/** Images by the names that the manifests have for them. */
export interface Loaded {
  /** Of the Docker engine. */
  readonly from: string
  readonly as: ReadonlyArray<string>
}

/** To every node, in one file, so that shared layers are loaded once. Each node is asked whether it has them. */
export const loadImages = async (images: ReadonlyArray<Loaded>) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-images-"))
  const file = join(folder, "images.tar")
  try {
    await within("docker", ["save", "--output", file, ...images.map(({ from }) => from)], { withinMs: 600_000 })
    for (const node of nodes) await loadTo(node, file, images)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An image's whole name, with the registry that containerd adds. */
const wholeName = (image: string) => {
  const [first = "", ...path] = image.split("/")
  if (path.length === 0) return `docker.io/library/${image}`
  return first.includes(".") ? image : `docker.io/${image}`
}

const loadTo = async (node: string, file: string, images: ReadonlyArray<Loaded>) => {
  for (let tried = 1; ; tried += 1) {
    const failure = await ctr(node, "import", file).catch((error: unknown) => error)
    const there = (await ctr(node, "ls", "-q")).split("\n")
    const missing = images.filter(({ from }) => !there.includes(wholeName(from)))
    if (missing.length === 0) break
    const named = missing.map(({ from }) => from).join(", ")
    if (tried === importTries) throw new Error(`${node} has no image ${named}`, { cause: failure })
  }
  for (const { from, as } of images)
    for (const name of as) await ctr(node, "tag", "--force", wholeName(from), wholeName(name))
}
