import { assert, describe, it } from "@effect/vitest"
import { failureOf, fleetVariables } from "../../load-tests/failure.ts"
import { AnvilMissing } from "../../dev/chain/evm/anvil.ts"

const busy = "load average 9.1 on 2 cores"
const spawnError = Object.assign(new Error("spawn nats-server ENOENT"), {
  code: "ENOENT",
  syscall: "spawn nats-server",
  path: "nats-server"
})
const log = [
  "the fleet ended with 1:",
  JSON.stringify({ level: "info", message: "connected" }),
  JSON.stringify({ level: "fatal", message: "cannot start: cannot listen on 127.0.0.1:7401" })
].join("\n")

describe("a failed measurement", () => {
  it.each<readonly [what: string, error: unknown, sentence: string]>([
    [
      "a wait that was too long",
      new Error("it was not so within 90 s that webhook-dispatcher was ready"),
      `latency was not measured to its end: it was not so within 90 s that webhook-dispatcher was ready (${busy})`
    ],
    [
      "a fleet with its log, of which the last words are enough",
      new Error(log),
      `latency was not measured to its end: the fleet ended with 1: cannot start: cannot listen on 127.0.0.1:7401 (${busy})`
    ],
    ["what is no error", "gone", `latency was not measured to its end: gone (${busy})`]
  ])("is one sentence for %s, with the machine's load", (_what, error, sentence) => {
    const failure = failureOf("latency", error, busy)
    assert.strictEqual(failure.sentence, sentence)
    assert.isFalse(failure.isMissing)
    assert.notInclude(failure.sentence, "\n")
  })

  it.each<readonly [what: string, error: unknown, named: string]>([
    ["a program that is not there", spawnError, "nats-server"],
    ["one that another error was caused by", new Error("it failed", { cause: spawnError }), "nats-server"],
    ["the chain's program", new AnvilMissing({ detail: "no package" }), "anvil was not found"]
  ])("is a missing program for %s, by name", (_what, error, named) => {
    const failure = failureOf("paid", error, busy)
    assert.isTrue(failure.isMissing)
    assert.include(failure.sentence, "paid could not be measured")
    assert.include(failure.sentence, named)
    assert.notInclude(failure.sentence, " at ")
  })

  it("keeps the stack for debugging, and never in the sentence", () => {
    const failure = failureOf("latency", new Error("gone"), busy)
    assert.include(failure.detail, "failure.test.ts")
    assert.notInclude(failure.sentence, "failure.test.ts")
  })
})

describe("the environment of a measured fleet", () => {
  it("has no ports, brokers and files of another fleet, and keeps the variables of tools", () => {
    const names = [
      "PATH",
      "LOAD_RECORDS",
      "PIPELINE_API_PORT",
      "PAYMENTS_NETWORKS",
      "BUS_URL",
      "NATS_URL",
      "STARLING_CONFIG",
      "STARLING_NATS_PORT",
      "STARLING_HOME",
      "STARLING_TOOLS",
      "STARLING_NATS_SERVER",
      "STARLING_CALLED_FROM"
    ]
    assert.deepStrictEqual(fleetVariables(names), [
      "BUS_URL",
      "NATS_URL",
      "PAYMENTS_NETWORKS",
      "PIPELINE_API_PORT",
      "STARLING_CONFIG",
      "STARLING_NATS_PORT"
    ])
  })
})
