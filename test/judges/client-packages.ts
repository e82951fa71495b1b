/**
 * Clients that nobody here wrote, as their makers publish them: the newest versions, installed by npm or pip into a folder
 * beside the tools, and never a dependency of this project.
 */
import { execFile } from "node:child_process"
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { type JudgedClient, judgedClients } from "../../services/model-gateway/judged-clients.ts"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../..")
/** Where they are kept, and with them what they bring. */
export const judgesFolder = process.env["STARLING_JUDGES"] ?? join(root, ".starling/judges")
const scripts = join(import.meta.dirname, "clients")
// Some clients bring a program of 200 MB.
const installing = { timeout: 600_000, maxBuffer: 64 * 1_024 * 1_024 }

export interface Installed {
  readonly folder: string
  /** By package. */
  readonly versions: Readonly<Record<string, string>>
}

/** What a script of a library needs beside the library. */
const beside: Readonly<Record<string, ReadonlyArray<string>>> = {
  vercel: ["zod"],
  "openai-agents": ["openai", "zod"],
  langchain: ["zod"]
}
/** What a package of Python brings only where it is asked for. */
const extras: Readonly<Record<string, string>> = { "pipecat-ai": "pipecat-ai[cartesia,elevenlabs,openai]" }
const paying = ["@x402/fetch", "@x402/evm", "viem"]

const asked = new Map<string, Promise<Installed | string>>()

/** Once for each file of tests; or why it cannot be had, as a text. */
export const installedClient = (client: JudgedClient): Promise<Installed | string> => {
  const before = asked.get(client.name)
  if (before !== undefined) return before
  const { kind, name, packages } = client
  const more = kind === "library of JavaScript" ? [...(beside[name] ?? []), ...paying] : []
  const made = kind === "library of Python" ? fromPyPi() : installed(name, packages, more)
  asked.set(name, made)
  return made
}

/** Why they cannot be had, as a text. */
export const installed = async (
  name: string,
  packages: ReadonlyArray<string>,
  more: ReadonlyArray<string> = []
): Promise<Installed | string> => {
  const at = join(judgesFolder, name)
  await mkdir(at, { recursive: true })
  await writeFile(join(at, "package.json"), '{"private":true,"type":"module"}')
  try {
    const words = ["install", "--no-audit", "--no-fund", "--foreground-scripts", ...packages, ...more]
    await run("npm", words, { cwd: at, ...installing })
  } catch (error) {
    return `npm could not install ${packages.join(", ")}: ${String(error).slice(0, 300)}`
  }
  await copyScripts(at)
  const versions: Record<string, string> = {}
  for (const each of packages) {
    const text = await readFile(join(at, "node_modules", each, "package.json"), "utf8")
    versions[each] = (JSON.parse(text) as { readonly version: string }).version
  }
  return { folder: at, versions }
}

const copyScripts = async (at: string) => {
  for (const file of await readdir(scripts)) await cp(join(scripts, file), join(at, file))
}

const environment: { made?: Promise<Installed | string> } = {}

/** One environment for all clients in Python. */
const fromPyPi = () =>
  (environment.made ??= pythonEnvironment(
    "python",
    judgedClients.flatMap(({ kind, packages }) => (kind === "library of Python" ? packages : []))
  ))

/** Why they cannot be had, as a text. */
export const pythonEnvironment = async (name: string, packages: ReadonlyArray<string>): Promise<Installed | string> => {
  const at = join(judgesFolder, name)
  const python = join(at, "bin/python")
  await mkdir(at, { recursive: true })
  try {
    await run("python3", ["-m", "venv", at], installing)
    const words = [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--disable-pip-version-check",
      "--upgrade",
      ...packages.map((each) => extras[each] ?? each)
    ]
    await run(python, words, installing)
    const { stdout } = await run(python, ["-m", "pip", "list", "--format", "json", "--disable-pip-version-check"])
    await copyScripts(at)
    const found = JSON.parse(stdout) as ReadonlyArray<{ readonly name: string; readonly version: string }>
    const versions = Object.fromEntries(found.map(({ name, version }) => [name, version]))
    return { folder: at, versions: Object.fromEntries(packages.map((each) => [each, versions[each] ?? ""])) }
  } catch (error) {
    return `pip could not install ${packages.join(", ")}: ${String(error).slice(0, 300)}`
  }
}
