/**
 * Clients that nobody here wrote, as their makers publish them: the newest versions, installed by npm into a folder beside
 * the tools, and never a dependency of this project.
 */
import { execFile } from "node:child_process"
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)
const root = join(import.meta.dirname, "../..")
const folder = process.env["STARLING_JUDGES"] ?? join(root, ".starling/judges")
// Some clients bring a program of 200 MB.
const installWithinMs = 600_000

export interface Installed {
  readonly folder: string
  /** By package. */
  readonly versions: Readonly<Record<string, string>>
}

/** Why they cannot be had, as a text. */
export const installed = async (name: string, packages: ReadonlyArray<string>): Promise<Installed | string> => {
  const at = join(folder, name)
  await mkdir(at, { recursive: true })
  await writeFile(join(at, "package.json"), '{"private":true,"type":"module"}')
  try {
    await run("npm", ["install", "--no-audit", "--no-fund", "--foreground-scripts", ...packages], {
      cwd: at,
      timeout: installWithinMs
    })
  } catch (error) {
    return `npm could not install ${packages.join(", ")}: ${String(error).slice(0, 300)}`
  }
  const scripts = join(import.meta.dirname, "clients")
  for (const file of await readdir(scripts)) await cp(join(scripts, file), join(at, file))
  const versions: Record<string, string> = {}
  for (const each of packages) {
    const text = await readFile(join(at, "node_modules", each, "package.json"), "utf8")
    versions[each] = (JSON.parse(text) as { readonly version: string }).version
  }
  return { folder: at, versions }
}
