import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const run = (program: string, ...parameters: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = spawnSync(program, parameters, { encoding: "utf8", timeout: 120_000 })
  return { code: status, out: stdout, error: stderr }
}
const starling = (...parameters: ReadonlyArray<string>) => run("./starling", ...parameters)

describe("./starling", () => {
  it("prints its version", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string }
    for (const flag of ["--version", "-v"]) {
      assert.deepStrictEqual(starling(flag), { code: 0, out: `starling ${version}\n`, error: "" })
    }
  })

  it("prints help in each form of the request", () => {
    const help = starling("--help")
    assert.strictEqual(help.code, 0)
    assert.include(help.out, "start the whole fleet on this machine")
    for (const way of [[], ["help"], ["-h"]]) assert.deepStrictEqual(starling(...way), help, way.join(" "))
    assert.deepStrictEqual(starling("help", "token"), starling("token", "--help"))
  })

  it.each(["check", "test", "mutants", "load"])(
    "prints help for %s, which the launcher runs, and starts nothing",
    (command) => {
      const { code, out, error } = starling(command, "--help")
      assert.deepStrictEqual([code, error], [0, ""])
      assert.include(out, `starling ${command}`)
    }
  )

  it("names the missing half of an incomplete command", () => {
    const { code, out, error } = starling("token")
    assert.deepStrictEqual([code, out], [2, ""])
    assert.include(error, "revoke")
  })

  it("suggests the intended word for a wrong one, and ends with 2", () => {
    const { code, out, error } = starling("tial")
    assert.deepStrictEqual([code, out], [2, ""])
    assert.include(error, "starling: there is no command tial; did you mean tail?")
  })

  it("finds a nats-server for the broker that is handed back, which is that of a stopped fleet", () => {
    const home = mkdtempSync(join(tmpdir(), "starling-home-"))
    const { STARLING_NATS_SERVER: _, ...others } = process.env
    const env = { ...others, STARLING_HOME: home }
    const { status, stderr } = spawnSync("./starling", ["broker", "before-rollback"], { encoding: "utf8", env })
    rmSync(home, { recursive: true })
    assert.deepStrictEqual([status, stderr], [1, "starling: could not close EVENTS to services: stream not found\n"])
  })
})

/** Bash's completions at the end of a line. */
const offered = (line: string) => {
  const script = `
    # What the package bash-completion gives it, for words without quotes.
    _init_completion() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}; }
    eval "$(./starling --completions bash)"
    starling() { [[ "$*" == "--names endpoint" ]] && printf '%s\n' ci shop; }
    read -ra COMP_WORDS <<<"$1"
    [[ $1 == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _starling starling "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
    printf '%s\n' "\${COMPREPLY[@]}"`
  const { code, out, error } = run("bash", "-c", script, "bash", line)
  assert.strictEqual(code, 0, error)
  return out.split("\n").filter((word) => word !== "")
}

describe("output to a slow reader", () => {
  it("is whole, however long it is", () => {
    const { code, out, error } = run("bash", "-c", "./starling --completions bash | { sleep 0.2; cat; }", "bash")
    assert.strictEqual(code, 0, error)
    assert.isAbove(out.length, 65_536)
    assert.include(out.slice(-100), "###-end-starling-completions-###")
  })
})

describe("completions in bash", () => {
  it.each([
    ["starling en", ["endpoints"]],
    ["starling endpoints p", ["pause"]],
    ["starling pay --chain s", ["solana"]],
    ["starling token make --lab", ["--label"]],
    ["starling role swee", ["sweeper"]],
    ["starling load so", ["soak"]],
    ["starling trigger queue.p", ["queue.paused"]],
    [
      "starling tail work_item.au",
      [
        "work_item.auditing",
        "work_item.audit_iteration",
        "work_item.audit_passed",
        "work_item.audit_failed",
        "work_item.auto_retry"
      ]
    ],
    ["starling publish project.budget_r", ["project.budget_recovered"]],
    ["starling events example release.rel", []],
    ["starling deliveries list --event queue.p", ["queue.paused"]],
    ["starling endpoints pause ", ["ci", "shop"]],
    ["starling abandoned resend --endpoint s", ["shop"]],
    ["starling endpoints add ", []]
  ])("%j lead to %j", (line, words) => {
    assert.deepStrictEqual(offered(line), words)
  })
})

describe("names for completions", () => {
  it("are none, without a word, of a fleet that is not there or hangs", async () => {
    const hanging = createServer()
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve))
    const { port } = hanging.address() as AddressInfo
    for (const url of ["http://127.0.0.1:1", `http://127.0.0.1:${port}`]) {
      const env = { ...process.env, STARLING_CONSOLE: url, STARLING_TOKEN: "a token" }
      const child = spawn("./starling", ["--names", "endpoint"], { env })
      let said = ""
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()))
      const code = await new Promise((resolve) => child.once("close", resolve))
      assert.deepStrictEqual([code, said], [0, ""], url)
    }
    hanging.closeAllConnections()
    hanging.close()
  })
})
