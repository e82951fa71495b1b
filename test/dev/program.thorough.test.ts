import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { buildProgramOnce } from "../../dev/program/build.ts"

const within = mkdtempSync(join(tmpdir(), "starling-program-"))
afterAll(() => rmSync(within, { recursive: true }))

describe("the bundle of the command line", () => {
  it("is made once, kept for a week after a newer one, and named in a file as old as its sources", async () => {
    const now = new Date(Date.now() - 60_000)
    const old = ["0000000000000001", "0000000000000002"].map((name) => join(within, name))
    for (const folder of old) mkdirSync(folder)
    utimesSync(old[0] ?? "", new Date(now.getTime() - 8 * 86_400_000), new Date(now.getTime() - 8 * 86_400_000))

    const entry = await buildProgramOnce(within, now)
    const made = statSync(entry).mtimeMs
    const again = await buildProgramOnce(within, now)

    assert.strictEqual(again, entry)
    assert.strictEqual(statSync(entry).mtimeMs, made)
    assert.strictEqual(readFileSync(join(within, "current"), "utf8"), `${entry}\n`)
    assert.strictEqual(statSync(join(within, "current")).mtimeMs, now.getTime())
    const names = readdirSync(within).filter((name) => name !== "current")
    assert.sameMembers(names, ["0000000000000002", basename(dirname(entry))])
  })

  it("has every thread and program that our code starts by its URL", async () => {
    const folder = dirname(await buildProgramOnce(within))
    const named = readdirSync(folder)
      .filter((name) => name.endsWith(".js"))
      .flatMap((name) => [...readFileSync(join(folder, name), "utf8").matchAll(/new URL\("\.\/([\w-]+\.js)"/gu)])
      .map(([, name = ""]) => name)

    assert.include(named, "libs-speech-engine-thread.js")
    assert.include(named, "dev-chain-solana-main.js")
    for (const name of named) assert.isTrue(existsSync(join(folder, name)), name)
  })
})
