/** Servers that nobody here wrote: the machine's own, or those of Debian's packages, unpacked beside the tools. */
import { execFile, spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { mkdir, readdir, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { judgesFolder } from "./client-packages.ts"

const run = promisify(execFile)

interface Packaged {
  readonly name: string
  /** Debian's package that holds the program. */
  readonly of: string
  /** Where it lies in there. */
  readonly at: string
}

export const nginx: Packaged = { name: "nginx", of: "nginx", at: "usr/sbin/nginx" }
export const tinyproxy: Packaged = { name: "tinyproxy", of: "tinyproxy-bin", at: "usr/bin/tinyproxy" }

/** The program's path, or why it cannot be had. */
export const serverProgram = async ({ name, of, at }: Packaged): Promise<{ readonly path: string } | string> => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
  const there = folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (there !== undefined) return { path: there }
  const cwd = join(judgesFolder, name)
  const path = join(cwd, at)
  if (existsSync(path)) return { path }
  try {
    await rm(cwd, { recursive: true, force: true })
    await mkdir(cwd, { recursive: true })
    await run("apt-get", ["download", "-qq", of], { cwd, timeout: 60_000 })
    const [deb = ""] = await readdir(cwd)
    await run("dpkg", ["-x", deb, "."], { cwd })
    await run(path, ["-v"])
    return { path }
  } catch (error) {
    return `there is no ${name}, and apt-get did not get it: ${String(error).slice(0, 300)}`
  }
}

/** A folder that is gone with the scope. */
export const folderOfTest = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-server-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Runs until the scope ends; it is there when its port is. */
export const startServer = Effect.fnUntraced(function* (path: string, words: ReadonlyArray<string>, port: number) {
  const said = { text: "" }
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(path, words, { stdio: ["ignore", "pipe", "pipe"] })),
    (started) =>
      Effect.callback<void>((resume) => {
        if (started.exitCode !== null) return resume(Effect.void)
        started.once("exit", () => resume(Effect.void))
        started.kill("SIGKILL")
        return undefined
      })
  )
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said.text += String(data)))
  const isThere = () =>
    new Promise<string>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy()
        resolve("there")
      })
      socket.on("error", () => resolve(`not there: ${said.text}`))
    })
  yield* eventually(isThere, { is: "there" })
})
