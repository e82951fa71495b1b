import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"

const run = (...words: ReadonlyArray<string>) => {
  const args = ["dev/mutants/main.ts", ...words]
  return execFileSync(process.execPath, args, { encoding: "utf8" }).trimEnd().split("\n")
}
const status = () => execFileSync("git", ["status", "--porcelain", "--", "test/dev/mutants"], { encoding: "utf8" })

describe("a room with a test that does not notice everything", () => {
  it("shows what survives, ends a loop without end, and leaves the tree as it was", () => {
    const before = status()
    const lines = run("test/dev/mutants/room", "--seed", "1")
    const survivors = lines.slice(0, -1).map((line) => line.replace("test/dev/mutants/room/", ""))
    assert.deepStrictEqual(survivors, [
      "amounts.ts:8 boundary: export const isLarge = (amount: number) => amount > limit  →  export const isLarge = (amount: number) => amount >= limit",
      "amounts.ts:18 sum: export const doubled = (amount: number) => amount + amount  →  export const doubled = (amount: number) => amount - amount"
    ])
    assert.match(
      lines.at(-1) ?? "",
      /^test\/dev\/mutants\/room: 9\/11 noticed, 81\.8 % \(1 timed out, 0 equivalent left out\), \d+ s, seed 1$/u
    )
    assert.strictEqual(status(), before)
  })

  it("ends with 1 when its tests notice less than is asked for", () => {
    const few = ["test/dev/mutants/room", "--seed", "1", "--sample", "2"]
    run(...few, "--at-least", "0")
    assert.throws(() => run("test/dev/mutants/room", "--seed", "1", "--at-least", "92"), /Command failed/u)
  })

  it("lists the same mutants for the same seed", () => {
    const list = (seed: string) => run("test/dev/mutants/room", "--list", "--sample", "4", "--seed", seed)
    assert.deepStrictEqual(list("5"), list("5"))
    assert.notDeepEqual(list("5"), list("6"))
    assert.strictEqual(list("5").length, 4)
  })
})
