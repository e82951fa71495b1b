/**
 * `dev/walks.sh [--files]`: what a stranger has to read to follow a call. Starts a fleet from its sources, makes each
 * kind of call some times, and prints the lines of the files in which functions ran for each. Fails where a walk has
 * become longer than its bound. The lines beside the product are printed too: nothing is moved there to be shorter.
 */
import { spawn } from "node:child_process"
import { globSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { until } from "#dev/fixtures/eventually"
import { newHome, type Ready, starling } from "#dev/fixtures/starling"
import { type Counts, counted, sumOf, walked } from "./walk.ts"

const root = join(import.meta.dirname, "../..")
// Enough that a loop in the background does not count as often.
const calls = 24
// A round is at least as long as this, and the idle one is: what beats with the clock ran as often in it.
const roundMs = 12_000
const startMsMax = 120_000

interface Walk {
  readonly name: string
  /** Half above what it was: what happens in the background meanwhile adds a third to some runs. Only ever lowered. */
  readonly linesMax: number
  readonly call: (nth: number) => Promise<unknown>
}

const asked = async (url: string, token: string, body: object, method: "POST" | "PUT" = "POST") => {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
}

const must = async (home: ReturnType<typeof newHome>, ...words: ReadonlyArray<string>) => {
  const { code, error } = await starling(home, ...words)
  if (code !== 0) throw new Error(`${words.join(" ")}: ${error}`)
}

const walksOf = (home: ReturnType<typeof newHome>, { pipeline, speech, token }: Ready): ReadonlyArray<Walk> => [
  {
    name: "an envelope, from the bus to its receiver",
    linesMax: 11_500,
    call: () => must(home, "publish", "work_item.merged", "--file", "dev/examples/merged.json")
  },
  {
    name: "a paid call",
    linesMax: 32_000,
    call: (nth) => must(home, "pay", `Say ${nth}`, "--model", "demo/echo")
  },
  {
    name: "a text, spoken with marks",
    linesMax: 20_500,
    call: (nth) =>
      asked(`${new URL(speech).origin}/v1/audio/stream/with-timestamps`, token, {
        voice_id: "selma",
        input: `Number ${nth}.`
      })
  },
  {
    name: "a command",
    linesMax: 18_000,
    call: (nth) =>
      asked(`${new URL(pipeline).origin}/workitems`, token, {
        title: `Oil gate ${nth}`,
        projectId: "garden",
        agent: "coder"
      })
  }
]

/** Has each process of the fleet write its counts, and reads them. */
const taken = async (folder: string, times: number): Promise<Counts> => {
  const names = (await readdir(folder)).filter((name) => /^process-\d+$/u.test(name))
  const pids = names.map((name) => Number(name.slice("process-".length)))
  for (const pid of pids) process.kill(pid, "SIGUSR2")
  await until(async () => {
    const told = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))
    return told.every((text) => Number(text) >= times)
  })
  const files = (await readdir(folder)).filter((name) => name.startsWith("coverage-"))
  const all: Array<Counts> = []
  for (const file of files) {
    const { result } = JSON.parse(await readFile(join(folder, file), "utf8")) as {
      readonly result: Parameters<typeof counted>[0]
    }
    all.push(counted(result, pathToFileURL(`${root}/`).href))
    await rm(join(folder, file))
  }
  return sumOf(all)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))

const linesOf = async (files: ReadonlyArray<string>) => {
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), "utf8")))
  return texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0)
}

const started = (environment: NodeJS.ProcessEnv) =>
  new Promise<{ readonly ready: Ready; readonly end: () => Promise<unknown> }>((resolve, reject) => {
    const main = join(root, "services/cli/main.ts")
    const child = spawn(process.execPath, [main, "up", "--ready-json"], {
      cwd: root,
      env: environment,
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = new Promise((done) => child.once("exit", done))
    const late = setTimeout(() => child.kill("SIGKILL"), startMsMax)
    let out = ""
    child.stdout.on("data", (data: Buffer) => {
      out += data.toString()
      if (!out.includes("\n")) return
      clearTimeout(late)
      resolve({ ready: JSON.parse(out) as Ready, end: () => (child.kill("SIGTERM"), ended) })
    })
    void ended.then(() => reject(new Error("the fleet ended")))
  })

const folder = await mkdtemp(join(tmpdir(), "starling-walks-"))
const home = newHome()
const fleet = await started({
  ...home.environment,
  WALKS_FOLDER: folder,
  NODE_V8_COVERAGE: folder,
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "at-work.ts")}`
})
try {
  const walks = walksOf(home, fleet.ready)
  const garden = { displayName: "The garden", repositoryUrl: `file://${folder}` }
  await asked(new URL("/projects/garden", fleet.ready.pipeline).href, fleet.ready.token, garden, "PUT")
  for (const { call } of walks) await call(0)
  let times = 1
  await taken(folder, times++)
  await pause(roundMs)
  const idle = await taken(folder, times++)
  for (const { name, linesMax, call } of walks) {
    const beganMs = performance.now()
    for (let nth = 1; nth <= calls; nth += 1) await call(nth)
    await pause(beganMs + roundMs - performance.now())
    const busy = await taken(folder, times++)
    const files = walked(idle, busy, { calls, longer: (performance.now() - beganMs) / roundMs })
    const lines = await linesOf(files)
    process.stdout.write(`${name}: ${lines} lines in ${files.length} files, at most ${linesMax}\n`)
    if (lines > linesMax) process.exitCode = 1
    if (process.argv.includes("--files")) process.stdout.write(files.map((file) => `  ${file}\n`).join(""))
  }
  for (const place of ["dev", "deploy", "page"]) {
    const files = globSync(`${place}/**/*.{ts,tsx,sh,css}`, { cwd: root, exclude: ["**/node_modules/**"] })
    process.stdout.write(`${place}: ${await linesOf(files)} lines\n`)
  }
} finally {
  await fleet.end()
  home.remove()
  await rm(folder, { recursive: true, force: true })
}
