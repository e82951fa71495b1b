import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it } from "@effect/vitest"

const root = join(import.meta.dirname, "../../..")
const folders: Array<string> = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** The project's install step in a copy of it without packages, with an npm that only reports its call. */
const install = (change: (manifest: string) => string) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-install-"))
  folders.push(folder)
  cpSync(join(root, "dev/install"), join(folder, "dev/install"), { recursive: true })
  cpSync(join(root, "package-lock.json"), join(folder, "package-lock.json"))
  writeFileSync(join(folder, "package.json"), change(readFileSync(join(root, "package.json"), "utf8")))
  writeFileSync(join(folder, "npm"), 'console.error("npm was called")\nprocess.exitCode = 1\n', { mode: 0o755 })
  const script = "set -euo pipefail; source dev/install/steps.sh; source dev/install/packages.sh; ensure_packages"
  return spawnSync("bash", ["-c", script], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, tools: join(folder, "tools") }
  })
}

describe("the install step", () => {
  it("refuses a package.json that the lock file has drifted from, before anything is fetched", () => {
    const { status, stderr } = install((manifest) => manifest.replace(/"saxes": "[^"]+"/u, '"saxes": "5.0.1"'))

    assert.strictEqual(status, 69)
    assert.match(stderr, /saxes: package\.json says 5\.0\.1, the lock file \d/u)
    assert.notInclude(stderr, "npm was called")
  })

  it("continues with a matching one, and names the log of npm's output when it fails", () => {
    const { status, stderr } = install((manifest) => manifest)

    assert.strictEqual(status, 69)
    const [, log = ""] =
      /^starling: installing packages \.\.\. failed after \d+ s; what it said is in (\S+), and ends with$/mu.exec(
        stderr
      ) ?? []
    assert.include(readFileSync(log, "utf8"), "npm was called")
    assert.include(stderr, "\n    npm was called\n")
  })
})

describe("an install step", () => {
  const step = (command: string, next = "true") => {
    const folder = mkdtempSync(join(tmpdir(), "starling-install-"))
    folders.push(folder)
    const script = `set -euo pipefail; source dev/install/steps.sh; step "doing it" bash -c "$1"; ${next}`
    const ran = spawnSync("bash", ["-c", script, "bash", command], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, tools: folder }
    })
    return { ...ran, log: readFileSync(join(folder, "install.log"), "utf8") }
  }

  it("prints one line, and keeps the command's output in a log", () => {
    const { status, stdout, stderr, log } = step("seq 400; seq 400 >&2")

    assert.strictEqual(status, 0)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /^starling: doing it \.\.\. \d+ s\n$/u)
    assert.lengthOf(log.trim().split("\n"), 801)
  })

  it("that fails shows only the last lines of the log, and exits as the command did", () => {
    const { status, stderr } = step("seq 400; exit 7")

    assert.strictEqual(status, 7)
    assert.lengthOf(stderr.trim().split("\n"), 6)
    assert.include(stderr, "\n    400\n")
  })

  it("starts a new log before it grows without end", () => {
    const { log } = step("seq 200000", "step again true")

    assert.strictEqual(log, "== again\n")
  })
})

describe("parts that are fetched side by side", () => {
  const ran = (script: string) => {
    const folder = mkdtempSync(join(tmpdir(), "starling-install-"))
    folders.push(folder)
    return spawnSync("bash", ["-c", `set -euo pipefail; source dev/install/steps.sh; ${script}`], {
      cwd: root,
      encoding: "utf8",
      timeout: 120_000,
      env: { ...process.env, tools: folder }
    })
  }
  const lines = (text: string) => text.trim().split("\n").toSorted()

  it("do not wait for each other, and each says when it begins and ends", () => {
    const { status, stderr } = ran(`
      meet() { touch "$tools/$1"; until [[ -e $tools/$2 ]]; do sleep 0.01; done; }
      one() { with_install_lock one step "fetching one" meet one two; }
      two() { with_install_lock two step "fetching two" meet two one; }
      side_by_side one two`)

    assert.strictEqual(status, 0)
    assert.deepStrictEqual(
      lines(stderr).map((line) => line.replace(/\d+ s$/u, "n s")),
      [
        "starling: fetching one ...",
        "starling: fetching one ... n s",
        "starling: fetching two ...",
        "starling: fetching two ... n s"
      ]
    )
  })

  it("all end before the failure of one is reported, and none is tried again", () => {
    const { status, stdout, stderr } = ran(`
      one() { with_install_lock one step "fetching one" bash -c "echo why; exit 7"; }
      two() { with_install_lock two step "fetching two" touch "$tools/two"; }
      code=0
      side_by_side one two || code=$?
      one && echo again
      test -e "$tools/two" && exit $code`)

    assert.strictEqual(status, 7)
    assert.strictEqual(stdout, "")
    assert.match(
      stderr,
      /^starling: fetching one \.\.\. failed after \d+ s; what it said is in \S+, and ends with\n {4}why$/mu
    )
    assert.lengthOf(stderr.match(/failed after/gu) ?? [], 1)
  })

  it("leave no lock that anybody waits for, when a shell among them ends with it", () => {
    const { status, stdout } = ran(`
      one() { with_install_lock one missing "a part" "put it there"; }
      side_by_side one || fetched=
      with_install_lock one echo "taken over"`)

    assert.strictEqual(status, 0)
    assert.strictEqual(stdout, "taken over\n")
  })
})
