import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

const repository = join(import.meta.dirname, "../..")
const folder = mkdtempSync(join(tmpdir(), "starling-count-"))
const reports = join(folder, "reports")
afterAll(() => rmSync(folder, { recursive: true }))

const tests = {
  "sums.test.ts": `it("adds up", () => expect(1).toBe(2))\nit("is good", () => expect(1).toBe(1))`,
  "hook.test.ts": `describe("a hook", () => { beforeAll(() => { throw new Error("no hook") }); it("waits", () => {}) })`,
  "lost.test.ts": `it("lets go", async () => { void Promise.reject(new Error("let go")); await new Promise((end) => setTimeout(end, 20)) })`,
  "missing.test.ts": `import "./nowhere.ts"`,
  "grammar.test.ts": `this is no code(`
}

/** A run of vitest over those files with the reporters that every ring of tests has. */
const runRing = (ring: string, files: Partial<typeof tests>, into = reports, place = ring) => {
  const root = join(folder, place)
  if (place === ring) {
    mkdirSync(root)
    symlinkSync(join(repository, "node_modules"), join(root, "node_modules"))
  }
  writeFileSync(join(root, "vitest.config.mjs"), `export default { test: { name: "${ring}" } }\n`)
  for (const [name, code] of Object.entries(files)) {
    writeFileSync(join(root, name), `import { beforeAll, describe, expect, it } from "vitest"\n${code}\n`)
  }
  const reporters = ["--reporter", join(repository, "dev/report-failures.ts"), "--reporter=json"]
  const { status } = spawnSync(
    join(repository, "node_modules/.bin/vitest"),
    ["run", "--root", root, ...reporters, `--outputFile.json=${join(into, `${ring}.json`)}`],
    { cwd: root, env: { ...process.env, STARLING_FAILURES: join(into, `${ring}.failures`) } }
  )
  if (status !== 0 && into === reports)
    writeFileSync(join(reports, `${ring}.failed`), `the run ended with exit code ${status}\n`)
  return status
}

const closing = (failed: string, from = reports, ...whose: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [join(repository, "dev/count-tests.ts"), failed, from, ...whose], { encoding: "utf8" })
    .stdout

describe("the end of all tests", () => {
  beforeAll(() => {
    mkdirSync(reports)
    assert.strictEqual(runRing("good", { "lost.test.ts": `it("holds", () => {})` }), 0)
    assert.strictEqual(runRing("bad", tests), 1)
    writeFileSync(join(reports, "fleet.failed"), "the run ended with exit code 137\n")
    writeFileSync(join(reports, "types.failed"), "libs/a.ts(3,4): error TS2322: Type\n")
  })

  it("names a test, a hook, a file that did not load, an unhandled error, and a check", () => {
    const text = closing("1")
    assert.include(text, "✗ bad sums.test.ts › adds up\n    AssertionError: expected 1 to be 2")
    assert.include(text, "    at sums.test.ts:2\n")
    assert.include(text, "✗ bad hook.test.ts › a hook (a hook)\n    Error: no hook\n    at hook.test.ts:2\n")
    assert.include(text, "✗ bad missing.test.ts › did not run\n    Error: Cannot find module './nowhere.ts'")
    assert.include(text, "✗ bad grammar.test.ts › did not run\n")
    assert.include(text, "✗ bad an error that no test waited for\n    Error: let go\n    at lost.test.ts:2\n")
    assert.include(text, "✗ types failed\n    libs/a.ts(3,4): error TS2322: Type\n")
  })

  it("names a project that ended without a report, and counts reported failures once", () => {
    const text = closing("1")
    assert.include(text, "✗ fleet failed\n    the run ended with exit code 137\n")
    assert.notInclude(text, "✗ bad failed")
    assert.notInclude(text, "✗ good")
  })

  it("ends with the count of all projects", () => {
    assert.match(closing("1"), /\n3 passed, 1 failed, 1 skipped\n$/u)
  })

  it("is the count alone when nothing failed, and one failure for a failure outside the tests", () => {
    const quiet = join(folder, "quiet")
    mkdirSync(quiet)
    writeFileSync(
      join(quiet, "unit.json"),
      JSON.stringify({ numPassedTests: 7, numFailedTests: 0, numPendingTests: 0 })
    )
    writeFileSync(join(quiet, "unit.failures"), "[]")
    assert.strictEqual(closing("0", quiet), "7 passed, 0 failed\n")
    assert.strictEqual(closing("1", quiet), "7 passed, 1 failed\n")
    assert.strictEqual(closing("0", quiet, "kubernetes: "), "kubernetes: 7 passed, 0 failed\n")
  })

  it("names as flaky a test that passed in the second run of its file, and counts it as passed", () => {
    const held = join(folder, "held")
    mkdirSync(held)
    const files = (order: string) =>
      spawnSync(process.execPath, [join(repository, "dev/flaky.ts"), order, held, "shaky"], { encoding: "utf8" })
    assert.strictEqual(runRing("shaky", { "sums.test.ts": tests["sums.test.ts"] }, held), 1)
    assert.strictEqual(files("files").stdout, "sums.test.ts\n")
    const mended = { "sums.test.ts": tests["sums.test.ts"].replace("toBe(2)", "toBe(1)") }
    assert.strictEqual(runRing("shaky.again", mended, held, "shaky"), 0)
    assert.strictEqual(files("hold").status, 0)
    const text = closing("0", held)
    assert.match(text, /^== flaky: failed at first, held when run again\n✗ shaky sums\.test\.ts › adds up\n/u)
    assert.match(text, /\n1 flaky: sums\.test\.ts › adds up\n2 passed, 0 failed\n$/u)
    assert.notInclude(text, "== failed")
  })
})
