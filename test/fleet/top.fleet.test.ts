import { execFileSync, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { roleNames } from "#base"
import { type Home, newHome, type Ran, type RunningFleet, starling, startFleet } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

const root = join(import.meta.dirname, "../..")
let home: Home
let fleet: RunningFleet

beforeAll(async () => {
  home = newHome()
  fleet = await startFleet(home)
})
afterAll(async () => {
  await fleet.stop("SIGTERM")
  home.remove()
})

interface Shown {
  readonly roles: ReadonlyArray<{ readonly role: string; readonly state: string; readonly at: string }>
  readonly totals: Readonly<Record<string, Readonly<Record<string, number | null>>>>
}

const frame = async (...parameters: ReadonlyArray<string>): Promise<Shown> => {
  const ran = await starling(home, "top", "--json", "--interval", "0.2", ...parameters)
  assert.strictEqual(ran.code, 0, ran.error)
  return JSON.parse(ran.out) as Shown
}

const stateOf = ({ roles }: Shown, name: string) => roles.find(({ role }) => role === name)?.state

/** The synthesizer's process, as the fleet notes it, by the address that it listens on. */
const synthesizerPid = () => {
  const processes = execFileSync("pgrep", ["-P", String(fleet.pid)], { encoding: "utf8" })
    .trim()
    .split("\n")
  return processes
    .map(Number)
    .find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("speech-synthesizer"))
}

/** In a terminal of its own, which `script` creates; its input is keys. */
const inTerminal = (...parameters: ReadonlyArray<string>) => {
  const command = ["./starling", "top", ...parameters].join(" ")
  const child = spawn("script", ["-qec", `stty cols 120 rows 40; ${command}`, "/dev/null"], {
    cwd: root,
    env: { ...home.environment, TERM: "xterm" }
  })
  let out = ""
  child.stdout.on("data", (data: Buffer) => (out += data.toString()))
  const ended = new Promise<Ran>((end) => child.once("close", (code) => end({ code, out, error: "" })))
  return { press: (key: string) => child.stdin.write(key), out: () => out, ended }
}

describe("./starling top", () => {
  it("shows every role up, even the one in its own process, and counts a delivery", async () => {
    const before = await frame()
    assert.strictEqual(before.roles.length, roleNames.length)
    for (const { role, state } of before.roles) assert.strictEqual(state, "up", role)
    assert.strictEqual(new Set(before.roles.map(({ at }) => at)).size, 2)
    const published = await starling(home, "publish", "queue.paused", "--example")
    assert.strictEqual(published.code, 0, published.error)
    const wanted = (before.totals["webhooks"]?.["delivered"] ?? 0) + 1
    await until(async () => (await frame()).totals["webhooks"]?.["delivered"] === wanted)
  })

  it("prints text into a pipe, or for a single frame", async () => {
    const ran = await starling(home, "top", "--once", "--interval", "0.2")
    assert.strictEqual(ran.code, 0, ran.error)
    assert.match(ran.out, new RegExp(`^starling {2}\\S+ {2}${roleNames.length} roles up`, "u"))
    assert.match(ran.out, /^webhook-dispatcher +up /mu)
    assert.notInclude(ran.out, "\u001B")
  })

  it("shows a killed role as down, and restores the terminal on q", async () => {
    const terminal = inTerminal("--interval", "0.2")
    await until(() => /speech-synthesizer +up/u.test(terminal.out()))
    const pid = synthesizerPid()
    assert.isDefined(pid)
    process.kill(pid, "SIGKILL")
    await until(() => /speech-synthesizer +down/u.test(terminal.out()))
    terminal.press("q")
    const { code, out } = await terminal.ended
    assert.strictEqual(code, 0)
    assert.include(out, "\u001B[?1049h")
    assert.isTrue(out.trimEnd().endsWith("\u001B[?7h\u001B[?25h\u001B[?1049l"), JSON.stringify(out.slice(-40)))
    await until(async () => stateOf(await frame(), "speech-synthesizer") === "up")
  })

  it("restores the terminal on Ctrl-C too", async () => {
    const terminal = inTerminal()
    await until(() => terminal.out().includes("roles up"))
    terminal.press("\u0003")
    const { code, out } = await terminal.ended
    assert.strictEqual(code, 0)
    assert.isTrue(out.trimEnd().endsWith("\u001B[?1049l"))
  })

  it("watches a fleet elsewhere by the addresses of its processes", async () => {
    const shown = await frame("--url", fleet.ready.metrics, "--url", "http://127.0.0.1:9")
    assert.strictEqual(stateOf(shown, "webhook-dispatcher"), "up")
    assert.strictEqual(shown.roles.find(({ at }) => at === "http://127.0.0.1:9")?.state, "down")
  })

  it("reports that no fleet runs, and wrong options", async () => {
    const elsewhere = newHome()
    const none = await starling(elsewhere, "top")
    elsewhere.remove()
    assert.strictEqual(none.code, 69)
    assert.match(none.error, /no fleet has run in .*\.\/starling up/u)
    const dead = await starling(home, "top", "--url", "127.0.0.1:9")
    assert.strictEqual(dead.code, 69)
    assert.match(dead.error, /nothing answers at 127\.0\.0\.1:9/u)
    for (const wrong of [["--interval", "0"], ["--url", "ftp://x"], ["everything"], ["--unheard"]]) {
      const ran = await starling(home, "top", ...wrong)
      assert.strictEqual(ran.code, 2, wrong.join(" "))
      assert.match(ran.error, /^starling: /u)
    }
  })
})
