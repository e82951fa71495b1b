import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"

const ask = (script: string, environment: Readonly<Record<string, string>>) => {
  const { status, stdout } = spawnSync("/bin/bash", [script], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    encoding: "utf8",
    timeout: 120_000
  })
  return { status, lines: stdout.trim().split("\n") }
}

const leftOut = /^== kubernetes: left out, .*the overlays are not tried on a cluster$/u

describe("a machine that cannot start a cluster", () => {
  it.each([
    ["where no tool for it stands", { STARLING_CLUSTER_TOOL: "/nowhere/cluster.sh" }],
    ["where no Docker engine answers", { STARLING_CLUSTER_TOOL: "/bin/true", DOCKER_HOST: "tcp://127.0.0.1:1" }]
  ])("says in one line what it skips, %s", (_, environment) => {
    const { status, lines } = ask("dev/kubernetes-cluster.sh", environment)

    assert.strictEqual(status, 1)
    assert.strictEqual(lines.length, 1)
    assert.match(lines[0] ?? "", leftOut)
  })

  it("has no failed stage for the skip", () => {
    const { status, lines } = ask("dev/test-kubernetes.sh", { STARLING_CLUSTER_TOOL: "/nowhere/cluster.sh" })

    assert.strictEqual(status, 0)
    assert.match(lines.join(" "), leftOut)
  })
})
