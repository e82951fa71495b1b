import { connect, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { type RoleName, roleNames } from "#base"
import { systemUser } from "../../deploy/generate/users.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { endRoles, startRole } from "../support/role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { passwordOf, startFleetBroker } from "../support/fleet-broker.ts"

let server: TestNatsServer
let system: NatsConnection
beforeAll(async () => {
  server = await startFleetBroker()
  system = await connect({ servers: server.url, user: systemUser, pass: passwordOf(systemUser) })
})
afterEach(endRoles)
afterAll(async () => {
  await system.close()
  await server.stop()
})

// As they are in production: the streams are others', and the user has no more than its role needs.
const start = (role: RoleName, password = passwordOf(role)) =>
  startRole(role, {
    configuration: { Bus: { Url: server.url, User: role, Password: password, Topology: "verify" } },
    environment: {
      SPEECH_API_PORT: "0",
      MODEL_GATEWAY_PORT: "0",
      PIPELINE_API_PORT: "0",
      CONSOLE_PORT: "0",
      PAYMENT_VERIFIER_FACILITATOR_PORT: "0"
    }
  })

interface Connections {
  readonly data: {
    readonly connections: ReadonlyArray<{ readonly authorized_user: string; readonly in_msgs: number }>
  }
}

/** A role's sent messages, as the broker counts them. */
const sentBy = async (role: RoleName) => {
  const answer = await system.request("$SYS.REQ.SERVER.PING.CONNZ", JSON.stringify({ auth: true }), { timeout: 60_000 })
  const { connections } = answer.json<Connections>().data
  return connections.find(({ authorized_user: user }) => user === role)?.in_msgs ?? 0
}

/** How much of leases, sweeps and consumers a role sends in two seconds without work; the others are silent then. */
const beats: Partial<Record<RoleName, number>> = {
  "pipeline-api": 8,
  "webhook-dispatcher": 4,
  sweeper: 30,
  "speech-synthesizer": 2,
  "payment-settler": 8
}

describe("a role with its own user", () => {
  it.each(roleNames)("%s gets ready and is refused no permission that it needs", async (name) => {
    const role = await start(name)
    await until(() => role.status("/readyz"), { is: 200, withinMs: startWithinMs })
    const atFirst = await sentBy(name)
    await until(() => sentBy(name), { is: (seen) => seen >= atFirst + (beats[name] ?? 0) })

    assert.strictEqual(await role.status("/readyz"), 200)
    role.signal("SIGTERM")
    assert.strictEqual(await role.ended, 0)
    assert.notMatch(role.error(), /Permissions Violation|forbids/u)
  })

  it("is refused with another role's password, and says so", async () => {
    const sweeper = await start("sweeper", passwordOf("pipeline-api"))

    await until(() => sweeper.log().some(({ reason }) => /Authorization Violation/u.test(String(reason))))
    assert.strictEqual(await sweeper.status("/readyz"), 503)
    assert.strictEqual(await sweeper.status("/livez"), 200)
    assert.strictEqual(await sentBy("sweeper"), 0)
    assert.notInclude(sweeper.error(), passwordOf("pipeline-api"))
  })
})
