import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "starling-compose-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Asks with a `docker compose` that reports this version; null where there is none. */
const ask = (version: string | null) => {
  const docker = join(folder, "docker")
  writeFileSync(docker, `#!/bin/sh\n${version === null ? "exit 125" : `echo ${version}`}\n`)
  chmodSync(docker, 0o755)
  const { status, stdout } = spawnSync("/bin/bash", ["dev/docker-compose.sh"], {
    env: { PATH: `${folder}:${process.env["PATH"]}` },
    encoding: "utf8",
    timeout: 120_000
  })
  return { status, stdout }
}

describe("a machine whose Docker Compose", () => {
  it.each(["2.24.0", "v2.40.3", "5.7.0"])("is %s tests the fleet of compose.yaml", (version) => {
    assert.deepStrictEqual(ask(version), { status: 0, stdout: "" })
  })

  it.each([null, "1.29.2", "2.9.0", "v2.23.3"])("is %s says in one line what it skips", (version) => {
    const { status, stdout } = ask(version)

    assert.strictEqual(status, 1)
    assert.match(stdout, /^== compose: left out, .*compose\.yaml is not tried\n$/u)
  })
})
