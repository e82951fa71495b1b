import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { generatedDocuments } from "../../services/fleet/documents.ts"

const sources = globSync(["libs/**/*.ts", "services/**/*.ts", "dev/**/*.ts"])

describe("the house", () => {
  it("has no file longer than 250 lines, and half of them at most 80", () => {
    const lengths = sources.map((path) => readFileSync(path, "utf8").split("\n").length - 1)
    for (const [index, length] of lengths.entries()) assert.isAtMost(length, 250, sources[index])
    const median = lengths.toSorted((left, right) => left - right)[Math.floor(lengths.length / 2)] ?? 0
    assert.isAtMost(median, 80)
  })

  it("says at the top of every file what it is", () => {
    for (const path of sources) assert.isTrue(readFileSync(path, "utf8").startsWith("/**"), path)
  })

  it("keeps its generated documents up to date", () => {
    for (const { path, content } of generatedDocuments()) {
      assert.strictEqual(readFileSync(path, "utf8"), content, `${path} is stale: run ./starling docs`)
    }
  })

  it("names in the README every role, command and package that there is", () => {
    const readme = readFileSync("README.md", "utf8")
    for (const name of [
      "webhook-dispatcher",
      "./starling up",
      "./starling test",
      "publish",
      "tail",
      "endpoints",
      "redrive",
      "token"
    ]) {
      assert.include(readme, name)
    }
  })
})

describe("a door", () => {
  const folder = mkdtempSync(join(tmpdir(), "starling-doors-"))
  symlinkSync(join(process.cwd(), "node_modules"), join(folder, "node_modules"))
  writeFileSync(join(folder, ".oxlintrc.json"), readFileSync(".oxlintrc.json"))
  afterAll(() => rmSync(folder, { recursive: true }))

  const lint = (path: string, line: string) => {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `/** A trial. */\n${line}\n`)
    try {
      execFileSync(join(process.cwd(), "node_modules/.bin/oxlint"), [path], { cwd: folder, encoding: "utf8" })
      return ""
    } catch (error) {
      return String((error as { stdout: string }).stdout)
    } finally {
      rmSync(file)
    }
  }

  it.each([
    ["services/webhook-dispatcher/trial.ts", `export { connect } from "@nats-io/transport-node"`],
    ["services/webhook-dispatcher/trial.ts", `export { Pool } from "undici"`],
    ["services/webhook-dispatcher/trial.ts", `export { roles } from "../fleet/roles.ts"`],
    ["services/webhook-dispatcher/trial.ts", `export { Nats } from "../../libs/bus/Nats.ts"`],
    ["libs/contracts/trial.ts", `export { Metrics } from "#runtime"`],
    ["libs/contracts/trial.ts", `export { readFile } from "node:fs/promises"`],
    ["libs/runtime/trial.ts", `export { Kv } from "#bus"`],
    ["libs/egress/trial.ts", `export { Kv } from "#bus"`],
    ["libs/bus/trial.ts", `export { Registry } from "prom-client"`],
    ["libs/bus/trial.ts", `export { UntrustedHttp } from "#egress"`],
    ["libs/runtime/trial.ts", `export const now = () => Date.now()`],
    ["libs/egress/trial.ts", `export const chance = () => Math.random()`],
    ["services/webhook-dispatcher/trial.ts", `export const home = () => process.env`],
    ["services/webhook-dispatcher/trial.ts", `setTimeout(() => undefined, 1)`],
    ["libs/bus/trial.ts", `console.log("hello")`]
  ])("is the only way: %s may not say %s", (path, line) => {
    assert.match(lint(path, line), /restricted|no-console/u, `${path}: ${line}`)
  })

  it("lets through what is as it should be", () => {
    assert.strictEqual(lint("services/webhook-dispatcher/trial.ts", `export { Kv } from "#bus"`), "")
  })
})
