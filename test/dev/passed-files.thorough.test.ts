/** Which files the linter and the formatter judge again, with a judge that refuses the word `bad`. */
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"

const script = join(process.cwd(), "dev/passed-files.sh")

let folder: string
const write = (path: string, text: string) => writeFileSync(join(folder, path), text)

/** Judges the folder's files; what the judge was given, and whether all that it saw passed. */
const judge = (options = "") => {
  const command = `source ${script}; judge_changed cache/judge.passed "lock rules" "files last.ts" ./judge ${options}`
  const { status } = spawnSync("bash", ["-uo", "pipefail", "-c", command], { cwd: folder })
  const seen = existsSync(join(folder, "seen")) ? readFileSync(join(folder, "seen"), "utf8").trim().split(/\s+/u) : []
  rmSync(join(folder, "seen"), { force: true })
  return { hasPassed: status === 0, seen: seen.toSorted() }
}

const whole = { hasPassed: true, seen: ["files", "last.ts"] }
const nothingNew = { hasPassed: true, seen: ["last.ts"] }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "starling-passed-"))
  mkdirSync(join(folder, "files"))
  write("judge", `#!/bin/sh\necho "$@" >>seen\n! grep -qr bad "$@"\n`)
  chmodSync(join(folder, "judge"), 0o755)
  for (const path of ["files/a.ts", "files/b c.ts", "last.ts", "lock", "rules"]) write(path, path)
})
afterEach(() => rmSync(folder, { recursive: true }))

describe("files that have passed", () => {
  it("are judged whole on a fresh checkout, and not again", () => {
    assert.deepStrictEqual(judge(), whole)
    assert.deepStrictEqual(judge(), nothingNew)
  })

  it.each([
    ["changed", "files/a.ts"],
    ["new", "files/new.ts"]
  ])("do not answer for a file that is %s", (_, path) => {
    judge()
    write(path, "other")

    assert.deepStrictEqual(judge(), { hasPassed: true, seen: [path, "last.ts"] })
    assert.deepStrictEqual(judge(), nothingNew)
  })

  it("do not answer for the same content under another name", () => {
    judge()
    write("files/d.ts", readFileSync(join(folder, "files/a.ts"), "utf8"))

    assert.deepStrictEqual(judge().seen, ["files/d.ts", "last.ts"])
  })

  it("are those that git does not ignore, and that are there", () => {
    spawnSync("git", ["init", "-q"], { cwd: folder })
    write(".gitignore", "*.log\n")
    write("files/gone.ts", "gone")
    spawnSync("git", ["add", "files"], { cwd: folder })
    judge()
    rmSync(join(folder, "files/gone.ts"))
    write("files/report.log", "bad")
    write("files/new.ts", "new")

    assert.deepStrictEqual(judge(), { hasPassed: true, seen: ["files/new.ts", "last.ts"] })
  })

  it("do not answer for one that fails, however often it is judged, until it is mended", () => {
    judge()
    write("files/b c.ts", "bad")

    for (const _ of [1, 2]) assert.isFalse(judge().hasPassed)
    write("files/b c.ts", "mended")
    assert.deepStrictEqual(judge(), { hasPassed: true, seen: ["c.ts", "files/b", "last.ts"] })
  })

  it("are not known after a first judgement that failed", () => {
    write("files/a.ts", "bad")

    for (const _ of [1, 2]) assert.deepStrictEqual(judge(), { ...whole, hasPassed: false })
  })

  it.each(["lock", "rules"])("are judged whole after a change of what they are judged by: %s", (path) => {
    judge()
    write(path, "other")

    assert.deepStrictEqual(judge(), whole)
    assert.deepStrictEqual(judge(), nothingNew)
  })

  it("are judged whole by a tool with other options", () => {
    judge()

    assert.deepStrictEqual(judge("files/a.ts").seen, ["files", "files/a.ts", "last.ts"])
  })

  it.each([
    ["lint", ".oxlintrc.json"],
    ["format", ".oxfmtrc.json"]
  ])("of a check's %s are judged by the versions of all packages, and by %s", (name, rules) => {
    const check = readFileSync("dev/check.sh", "utf8")

    assert.match(check, /^judged_by="[^"]*\bpackage-lock\.json\b/mu)
    assert.include(check, `${name}.passed "$judged_by ${rules}"`)
    for (const path of ["package-lock.json", rules]) assert.isTrue(existsSync(path), path)
  })
})
