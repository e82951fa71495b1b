import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"

const ask = (environment: Readonly<Record<string, string>>) => {
  const { status, stdout } = spawnSync("/bin/bash", ["dev/docker-engine.sh"], {
    env: environment,
    encoding: "utf8",
    timeout: 120_000
  })
  return { status, lines: stdout.trim().split("\n") }
}

describe("a machine without a Docker engine", () => {
  it.each([
    ["where none answers", { PATH: process.env["PATH"] ?? "", DOCKER_HOST: "tcp://127.0.0.1:1" }],
    ["where there is no docker at all", { PATH: "/nowhere" }]
  ])("says in one line what it skips, %s", (_, environment) => {
    const { status, lines } = ask(environment)

    assert.strictEqual(status, 1)
    assert.strictEqual(lines.length, 1)
    assert.match(lines[0] ?? "", /^== containers: left out, .*chaos in containers are not tried$/u)
  })
})
