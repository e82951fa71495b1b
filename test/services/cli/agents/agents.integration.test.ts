import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runHere } from "../../../support/command.ts"

const userHome = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-agents-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("./starling agents", () => {
  it.live("prints the lines of the agent's file and writes nothing", () =>
    Effect.gen(function* () {
      const HOME = yield* userHome
      const { code, out, error } = yield* runHere(["agents", "codex", "--model", "demo/echo"], { HOME })
      assert.deepStrictEqual([code, readdirSync(HOME)], [0, []])
      assert.include(out, '[model_providers.starling]\nname = "Starling"\nbase_url = "http://127.0.0.1:7409/v1"')
      assert.include(out, "codex -c model_provider=starling -m 'demo/echo'")
      assert.include(error, "in ~/.codex/config.toml, or by --write:")
    }).pipe(Effect.scoped)
  )

  it.live("with --write writes them once, and keeps the file as it was beside it", () =>
    Effect.gen(function* () {
      const HOME = yield* userHome
      const folder = join(HOME, ".codex")
      const before = 'model = "gpt-5"\n'
      mkdirSync(folder)
      writeFileSync(join(folder, "config.toml"), before)
      const write = runHere(["agents", "codex", "--model", "demo/echo", "--write"], { HOME })
      const wrote = yield* write
      assert.match(wrote.error, /^wrote \S+\/\.codex\/config\.toml; as it was: \S+\n/u)
      const after = readFileSync(join(folder, "config.toml"), "utf8")
      assert.match(after, /^model = "gpt-5"\n\n\[model_providers\.starling\]\n/u)
      const [backup = ""] = readdirSync(folder).filter((name) => name !== "config.toml")
      assert.strictEqual(readFileSync(join(folder, backup), "utf8"), before)

      assert.include((yield* write).error, "has it already")
      assert.strictEqual(readFileSync(join(folder, "config.toml"), "utf8"), after)
      assert.strictEqual(readdirSync(folder).length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("leaves a file that it cannot read as it is, and says so", () =>
    Effect.gen(function* () {
      const HOME = yield* userHome
      mkdirSync(join(HOME, ".claude"))
      const file = join(HOME, ".claude/settings.json")
      writeFileSync(file, "{ // mine\n}")
      const { code, error } = yield* runHere(["agents", "claude", "--model", "demo/echo", "--write"], { HOME })
      assert.deepStrictEqual([code, readFileSync(file, "utf8")], [1, "{ // mine\n}"])
      assert.include(error, `starling: ${file} stays: it is no JSON that can be written again`)
    }).pipe(Effect.scoped)
  )
})
