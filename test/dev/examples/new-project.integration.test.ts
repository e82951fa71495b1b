/** A new project, made as docs/paying-clients.md says: every client of the page loads there. */
import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, readFileSync, symlinkSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { payingFiles } from "../../../services/cli/documents.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const [, block = ""] = /```sh\n(npm init.*?)```/su.exec(readFileSync("docs/paying-clients.md", "utf8")) ?? []
const [make = "", install = ""] = block.split("\n")

describe("a new project", () => {
  it.live("made as the page says runs each client in TypeScript, up to what its variables lack", () =>
    Effect.map(temporaryFolder, (folder) => {
      execFileSync("bash", ["-euc", make], { cwd: folder, stdio: "ignore" })
      // The packages of this tree stand for those that the page installs: they have the same versions.
      symlinkSync(resolve("node_modules"), join(folder, "node_modules"))
      for (const wanted of install.split(" ").slice(2)) {
        const [, name = "", version] = /^(.+)@([^@]+)$/u.exec(wanted) ?? []
        const installed = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as { version: string }
        assert.strictEqual(installed.version, version, wanted)
      }
      for (const { path } of payingFiles) {
        if (!path.endsWith(".ts")) continue
        copyFileSync(path, join(folder, basename(path)))
        const packages = [...readFileSync(path, "utf8").matchAll(/from "((?:@[\w-]+\/)?[\w.-]+)/gu)].map(
          ([, name]) => name
        )
        for (const name of packages) assert.include(install, ` ${name}@`, path)
        // Without a wallet each ends before it calls anybody, once all of its packages are loaded.
        const { WALLET_KEY: _, ...env } = process.env
        const { status, stderr } = spawnSync(process.execPath, [basename(path)], { cwd: folder, encoding: "utf8", env })
        assert.notStrictEqual(status, 0)
        assert.include(stderr, "privateKeyToAccount", path)
        assert.notMatch(stderr, /SyntaxError|ERR_MODULE_NOT_FOUND|ERR_UNKNOWN_FILE_EXTENSION/u)
      }
    }).pipe(Effect.scoped)
  )
})
