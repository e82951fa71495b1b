import { assert, describe, it } from "@effect/vitest"
import { dispatcher, endpoint, publish, ready, scene, setUpEachTest } from "../support/dispatcher-role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

setUpEachTest()

describe("a role with a wrong configuration", () => {
  const refused = async (...parameters: Parameters<typeof dispatcher>) => {
    const role = await dispatcher(...parameters)
    const code = await role.ended
    assert.notStrictEqual(code, 0)
    assert.isNumber(code, `it ended by ${code}`)
    return role.error()
  }
  const name = (names: string) => endpoint({ Name: names })

  it.each([
    [
      "an unset secret variable",
      () => [endpoint({ SecretEnvVar: "NOT_SET" })],
      ["Webhooks[0].SecretEnvVar", "NOT_SET"]
    ],
    ["an empty secret variable", () => [endpoint({ SecretEnvVar: "EMPTY" })], ["Webhooks[0].SecretEnvVar", "EMPTY"]],
    [
      "a secret whose key is empty",
      () => [endpoint({ StandardWebhooksSecretEnvVar: "NO_KEY" })],
      ["Webhooks[0].StandardWebhooksSecretEnvVar", "NO_KEY"]
    ],
    ["a Name used twice", () => [name("x"), name("y"), name("x")], ["Webhooks", "the Name", "is used twice"]],
    ["a Url that cannot be called", () => [endpoint({ Url: "ftp://files.example/" })], ["Webhooks[0].Url", "https"]],
    ["an unknown key", () => [endpoint(), endpoint({ Name: "b", Retries: 3 })], ["Webhooks[1].Retries"]]
  ] as const)("does not start: the log names %s", async (_what, endpoints, named) => {
    const said = await refused(endpoints(), { EMPTY: "", NO_KEY: "whsec_!!!" })
    for (const part of named) assert.include(said, part)
    assert.deepStrictEqual(scene.requests, [])
  })

  it("starts with a secret that works today, and warns of it by its path", async () => {
    const role = await ready([endpoint({ SecretEnvVar: "SHORT" })], { SHORT: "s3" })
    assert.match(role.error(), /secrets that the next release refuses.*Webhooks\[0\]\.SecretEnvVar: SHORT/su)
  })

  it("names every fault at once", async () => {
    const endpoints = [
      endpoint({ SecretEnvVar: "NOT_SET" }),
      endpoint({ Name: "b", StandardWebhooksSecretEnvVar: "EMPTY" })
    ]
    const secrets = await refused(endpoints, { EMPTY: "  " })
    for (const part of ["Webhooks[0].SecretEnvVar", "Webhooks[1].StandardWebhooksSecretEnvVar"]) {
      assert.include(secrets, part)
    }
    const shapes = await refused(
      [endpoint({ Url: "nowhere", SecretEnvVar: "NOT_SET" }), endpoint({ Name: "b", Retries: 3 }), endpoint({})],
      {},
      // Another role's secrets are checked for their shape alone.
      {
        Buss: {},
        ModelGateway: { Providers: [{ Name: "p", BaseUrl: "https://p.example", KeyEnvVar: "NOT_SET_EITHER" }] }
      }
    )
    const faults = ["Webhooks[0].Url", "Webhooks[0].SecretEnvVar", "Webhooks[1].Retries", "is used twice", "Buss"]
    for (const part of faults) assert.include(shapes, part)
    assert.notInclude(shapes, "NOT_SET_EITHER")
  })
})

describe("a role whose broker is unreachable", () => {
  it("exits at once with 0 when it is stopped before it is ready", async () => {
    await scene.nats.kill9()
    const role = await dispatcher([endpoint()])
    await until(() => role.status("/livez"), { is: 200, withinMs: startWithinMs })
    const askedAtMs = performance.now()
    role.signal("SIGTERM")
    assert.strictEqual(await role.ended, 0)
    assert.isBelow(performance.now() - askedAtMs, 15_000)
    assert.include(role.error(), "stopped while starting")
  })

  it("is alive and not ready from the start, and ready once the broker answers", async () => {
    await scene.nats.kill9()
    const role = await dispatcher([endpoint()])
    await until(() => role.status("/livez"), { is: 200, withinMs: startWithinMs })
    assert.strictEqual(await role.status("/readyz"), 503)
    await scene.nats.start()
    await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
    await publish("work_item.merged")
    await until(() => scene.requests.length, { is: 1 })
  })

  it("stays alive and unready during an outage, and continues when the broker is back", async () => {
    const role = await ready([endpoint()])
    await publish("work_item.merged")
    await until(() => scene.requests.length, { is: 1 })
    await scene.nats.kill9()
    await until(() => role.status("/readyz"), { is: 503 })
    // The effect of minutes on the loops is tested with a faster clock, in the dispatcher's tests.
    for (const began = performance.now(); performance.now() - began < 5_000;) {
      assert.strictEqual(await role.status("/livez"), 200)
      assert.strictEqual(await role.status("/readyz"), 503)
    }
    await scene.nats.start()
    await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
    await publish("work_item.done")
    const heardOf = (event: string) => scene.heard.filter((request) => request.event === event)
    await until(() => heardOf("work_item.done").length, { is: (length) => length > 0 })
    // The broker died so soon after the first delivery that its acknowledgement may be lost: it then comes again.
    assert.lengthOf(new Set(heardOf("work_item.merged").map(({ deliveryId }) => deliveryId)), 1)
    assert.lengthOf(new Set(scene.heard.map(({ deliveryId }) => deliveryId)), 2)
    assert.strictEqual(await role.status("/livez"), 200)
  })
})
