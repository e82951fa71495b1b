import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

interface Report {
  readonly diagnostics: ReadonlyArray<{ readonly filename: string; readonly code: string }>
  readonly number_of_files: number
}

const lint = (folder: string, ...paths: ReadonlyArray<string>) => {
  // Packages may bring configurations of their own.
  const options = ["--format=json", "--disable-nested-config", ...paths]
  const { stdout } = spawnSync("node_modules/.bin/oxlint", options, { cwd: folder, encoding: "utf8" })
  return JSON.parse(stdout) as Report
}

describe("the linter", () => {
  const refused = [
    ["libs/runtime/trial.ts", `export const now = () => Date.now()`],
    ["libs/egress/trial.ts", `export const chance = () => Math.random()`],
    ["services/webhook-dispatcher/trial.ts", `export const home = () => process.env`],
    ["services/webhook-dispatcher/trial.ts", `setTimeout(() => undefined, 1)`],
    ["services/speech-api/trial.ts", `export { NodeRuntime } from "@effect/platform-node"`],
    ["libs/bus/trial.ts", `console.log("hello")`],
    ["dev/trial.ts", `export const tooLong = () => {${"\n".repeat(70)}}`],
    ["page/trial.ts", `export class Long {\n  method() {${"\n".repeat(70)}}\n}`]
  ] as const
  const taken = [
    ["services/webhook-dispatcher/trial.ts", `export { Kv } from "#bus"`],
    ["libs/runtime/trial.ts", `export const seventyLines = () => {${"\n".repeat(69)}}`]
  ] as const
  const trials = [...refused, ...taken]
  const fileOf = (path: string, line: string) =>
    path.replace("trial", `trial-${trials.findIndex((trial) => trial[0] === path && trial[1] === line)}`)

  const folder = mkdtempSync(join(tmpdir(), "starling-lint-"))
  afterAll(() => rmSync(folder, { recursive: true }))
  const said = new Map<string, Array<string>>()
  // One run for all lines: each start of the linter costs more than its work here.
  beforeAll(() => {
    symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"))
    writeFileSync(join(folder, ".oxlintrc.json"), readFileSync(".oxlintrc.json"))
    for (const [path, line] of trials) {
      const file = join(folder, fileOf(path, line))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `/** A trial. */\n${line}\n`)
    }
    const { diagnostics, number_of_files } = lint(folder)
    assert.strictEqual(number_of_files, trials.length)
    for (const { filename, code } of diagnostics) said.set(filename, [...(said.get(filename) ?? []), code])
    // A linter that comes from a cold disk has been seen to take ten seconds.
  })

  it.each(refused)("refuses in %s: %s", (path, line) => {
    assert.match((said.get(fileOf(path, line)) ?? []).join(" "), /restricted|no-console|max-lines-per-function/u)
  })

  it("accepts correct code", () => {
    for (const [path, line] of taken) assert.isUndefined(said.get(fileOf(path, line)), line)
  })

  // A check gives it the files that have changed.
  it("finds a circle of files from the one that closes it", () => {
    const circle = [
      ["libs/http/first.ts", `import { second } from "./second.ts"\nexport const first = () => second()`],
      ["libs/http/second.ts", `import { first } from "./first.ts"\nexport const second = (): void => first()`]
    ] as const
    mkdirSync(join(folder, "libs/http"), { recursive: true })
    for (const [path, text] of circle) writeFileSync(join(folder, path), `/** A trial. */\n${text}\n`)
    for (const [path] of circle)
      assert.include(
        lint(folder, path)
          .diagnostics.map(({ code }) => code)
          .join(),
        "no-cycle"
      )
  })
})
