/** The examples of the quickstarts and of the README's pipeline, run as they stand on a fresh fleet. */
import { execFileSync, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { type Home, modelVoice, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

/** The blocks of shell below a heading. */
const blocksOf = (page: string, heading: string): ReadonlyArray<string> => {
  const section = readFileSync(page, "utf8").split(`\n## ${heading}\n`)[1]?.split(/\n## /u)[0] ?? ""
  return [...section.matchAll(/```sh\n(.*?)```/gsu)].map(([, block = ""]) => block)
}

let home: Home
let fleet: RunningFleet
let receiverPort: number

/** On this machine other fleets may have the default ports: the fleet is in a home of its own, on any free ports. */
const here = (block: string) =>
  block
    .replaceAll("$PWD/.starling/", `${home.folder}/`)
    .replaceAll(".starling/", `${home.folder}/`)
    .replaceAll("localhost:7401", new URL(fleet.ready.pipeline).host)
    .replaceAll("127.0.0.1:3000/", `127.0.0.1:${receiverPort}/`)
    .replaceAll(" 3000 &", ` ${receiverPort} &`)

interface Shell {
  readonly out: () => string
  /** Resolves with the exit code of the commands that do not go on in the background. */
  readonly done: Promise<number | null>
  /** Ends what goes on in the background. */
  readonly stop: () => Promise<void>
}

/** Stops at the first command that fails; a command with `&` goes on until the shell is stopped. */
const run = (block: string): Shell => {
  const child = spawn("bash", ["-euo", "pipefail", "-c", `${here(block)}\necho "all of it was done"\nwait`], {
    env: home.environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let out = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (out += data.toString()))
  let hasEnded = false
  const ended = new Promise<number | null>((resolve) =>
    child.once("exit", (code) => {
      hasEnded = true
      resolve(code)
    })
  )
  const done = new Promise<number | null>((resolve) => {
    void ended.then(resolve)
    child.stdout.on("data", () => {
      if (out.includes("all of it was done\n")) resolve(0)
    })
  })
  const stop = async () => {
    if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, "SIGTERM")
    await ended
  }
  return { out: () => out, done, stop }
}

const runWell = async (block: string, andThen: (shell: Shell) => Promise<void>) => {
  const shell = run(block)
  try {
    assert.strictEqual(await shell.done, 0, shell.out())
    await andThen(shell)
  } finally {
    await shell.stop()
  }
}

const begin = async () => {
  home = newHome(modelVoice)
  receiverPort = await freePort()
  fleet = await startFleet(home)
}

/** The item of the block is worked on until it is done, and its commits are upstream. */
const itemIsDone = async () => {
  const items = async () => {
    const answer = await fetch(`${fleet.ready.pipeline}/workitems`, {
      headers: { authorization: `Bearer ${fleet.ready.token}` }
    })
    return ((await answer.json()) as { readonly items: ReadonlyArray<{ readonly state: string }> }).items
  }
  await until(async () => (await items()).at(-1)?.state === "Done")
  const log = execFileSync("git", ["-C", `${home.folder}/garden.git`, "log", "--format=%s", "main"], {
    encoding: "utf8"
  })
  assert.isAbove(log.trim().split("\n").length, 1, log)
}

describe("the quickstarts", () => {
  beforeAll(begin)
  afterAll(async () => {
    if (fleet !== undefined) await fleet.stop("SIGTERM")
    home.remove()
  })

  it("bring events to a receiver that verifies them", async () => {
    const [block = ""] = blocksOf("docs/quickstarts.md", "A receiver")
    await runWell(block, async ({ out }) => {
      await until(() => (out().match(/ work_item\.merged [0-9a-f-]{36}$/gmu) ?? []).length, { is: 2 })
      assert.match(out(), /^.*\bdelivered\b.*$/mu)
    })
  })

  it("publish events as a service does, and read them back", async () => {
    const [byService = "", byCommand = ""] = blocksOf("docs/quickstarts.md", "A publisher")
    await runWell(byService, async ({ out }) => {
      assert.match(out(), /stored as event \d+\nread back sandbox\.leak_detected/u)
    })
    await runWell(byCommand, async () => {
      await until(() => fleet.log().split("received sandbox.leak_detected").length, { is: 3 })
    })
    const [connecting = ""] = blocksOf("docs/events.md", "How a service connects")
    assert.strictEqual(connecting, byService)
  })

  it("take a work item through the pipeline, in five commands that the README has too", async () => {
    const [block = ""] = blocksOf("docs/quickstarts.md", "A runner")
    assert.deepStrictEqual(blocksOf("README.md", "A pipeline"), [block])
    assert.strictEqual(block.trim().split("\n").length, 5)
    await runWell(block, itemIsDone)
  })
})
