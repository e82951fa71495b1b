import { copyFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { connect } from "@nats-io/transport-node"
import { type Authority, newAuthority, type Signed } from "../support/certificates.ts"
import { startNatsServer, type TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { endRoles, type RunningRole, startRole } from "../support/role.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"
import { passwordOf, startFleetBroker } from "../support/fleet-broker.ts"

let authority: Authority
let stranger: Authority
let broker: Signed
let role: Signed
beforeAll(() => {
  authority = newAuthority()
  stranger = newAuthority()
  broker = authority.sign("localhost", "broker")
  role = authority.sign("sweeper")
})
afterAll(() => {
  authority.remove()
  stranger.remove()
})

const servers: Array<TestNatsServer> = []
afterEach(async () => {
  await endRoles()
  for (const server of servers.splice(0)) await server.stop()
})

const quoted = (path: string) => JSON.stringify(path)

/** A broker with the deployment's users, that speaks TLS alone. */
const startBroker = async ({ shown = broker, verifies = false } = {}) => {
  const verify = verifies ? `, ca_file: ${quoted(authority.caFile)}, verify: true` : ""
  const server = await startFleetBroker({
    tls: {
      server: `cert_file: ${quoted(shown.certificate)}, key_file: ${quoted(shown.key)}${verify}`,
      keeper: { caFile: authority.caFile, certFile: role.certificate, keyFile: role.key }
    }
  })
  servers.push(server)
  return server
}

const startSweeper = (url: string, bus: Readonly<Record<string, string>> = {}) =>
  startRole("sweeper", {
    configuration: { Bus: { Url: url, User: "sweeper", Password: passwordOf("sweeper"), Topology: "verify", ...bus } }
  })

const urlOf = ({ port }: { readonly port: number }) => `tls://localhost:${port}`

/** It reads the broker's streams and holds a lease there. */
const works = async (sweeper: RunningRole) => {
  await until(() => sweeper.status("/readyz"), { is: 200, withinMs: startWithinMs })
  await until(async () => /^sweeper_held\{[^}]*\} 1$/mu.test(await sweeper.metrics()))
}

/** It waits, alive and not ready, with the reason in health and log. */
const waitsBecause = async (sweeper: RunningRole, reason: RegExp) => {
  const shown = async () =>
    ((await (await fetch(`${sweeper.url}/readyz`)).json()) as { readonly checks: Record<string, string> }).checks[
      "bus sweeper"
    ]
  await until(() => sweeper.status("/readyz"), { is: 503 })
  await until(async () => reason.test((await shown()) ?? ""))
  assert.strictEqual(await sweeper.status("/livez"), 200)
  const warnings = () => sweeper.log().filter(({ message }) => message === "the broker cannot be reached, trying again")
  // Its log comes over a pipe, and may come after its answer.
  await until(() => warnings().some(({ reason: told }) => reason.test(String(told))))
  assert.notInclude(sweeper.error(), passwordOf("sweeper"))
}

describe("a role whose broker uses TLS", () => {
  it("works when it trusts the authority that signed the broker's certificate", async () => {
    const server = await startBroker()

    await works(await startSweeper(urlOf(server), { TlsCaFile: authority.caFile }))
  })

  it("presents its own certificate to a broker that asks for one, and is refused without one", async () => {
    const server = await startBroker({ verifies: true })
    const known = { TlsCaFile: authority.caFile, TlsCertificateFile: role.certificate, TlsKeyFile: role.key }

    await works(await startSweeper(urlOf(server), known))
    const nameless = await startSweeper(urlOf(server), { TlsCaFile: authority.caFile })
    await waitsBecause(nameless, /a broker that asks for certificates is silent/u)
  })

  it("refuses a broker whose certificate another authority signed", async () => {
    const server = await startBroker()

    const sweeper = await startSweeper(urlOf(server), { TlsCaFile: stranger.caFile })
    await waitsBecause(sweeper, /could not connect: .*(?:certificate|signature)/u)
  })

  it("trusts no authority that is not configured, even when it did not ask for encryption", async () => {
    const server = await startBroker()

    const sweeper = await startSweeper(`nats://localhost:${server.port}`)
    await waitsBecause(sweeper, /could not connect: .*certificate/u)
  })

  it("refuses a broker with a certificate for another host", async () => {
    const elsewhere = authority.sign("nats.elsewhere.example")
    const server = await startNatsServer({
      configuration: `tls { cert_file: ${quoted(elsewhere.certificate)}, key_file: ${quoted(elsewhere.key)} }`
    })
    servers.push(server)

    const sweeper = await startSweeper(urlOf(server), { TlsCaFile: authority.caFile })
    await waitsBecause(sweeper, /does not match certificate's altnames/u)
  })

  it("gives its password to no server that offers no encryption", async () => {
    let heard = ""
    const inTheMiddle = createServer((socket) => {
      socket.on("data", (bytes) => (heard += bytes.toString()))
      socket.on("error", () => {})
      socket.write(`INFO {"server_id":"x","version":"2.15.1","proto":1,"headers":true,"max_payload":1048576}\r\n`)
    })
    const port = await new Promise<number>((resolve) =>
      inTheMiddle.listen(0, "127.0.0.1", () => resolve((inTheMiddle.address() as AddressInfo).port))
    )

    const sweeper = await startSweeper(`tls://localhost:${port}`)
    await waitsBecause(sweeper, /server does not support 'tls'/u)
    await endRoles()
    inTheMiddle.close()

    assert.strictEqual(heard, "")
  })

  it("reconnects by itself when the broker's certificate and its authority are replaced", async () => {
    const shown = authority.sign("localhost", "renewed")
    const server = await startBroker({ shown })
    const sweeper = await startSweeper(urlOf(server), { TlsCaFile: authority.caFile })
    await works(sweeper)

    const foreign = stranger.sign("localhost")
    copyFileSync(foreign.certificate, shown.certificate)
    copyFileSync(foreign.key, shown.key)
    await server.kill9()
    await server.start()
    await waitsBecause(sweeper, /could not connect: .*(?:certificate|signature)/u)

    copyFileSync(broker.certificate, shown.certificate)
    copyFileSync(broker.key, shown.key)
    await server.kill9()
    await server.start()
    await works(sweeper)
  })
})

describe("the broker", () => {
  it("admits only encrypted connections", async () => {
    const server = await startBroker()
    const plain = connect({
      servers: `nats://localhost:${server.port}`,
      user: "sweeper",
      pass: passwordOf("sweeper"),
      tls: null,
      reconnect: false
    })

    const refusal = await plain.then(
      () => "let in",
      (error: unknown) => String(error)
    )
    assert.match(refusal, /tls/iu)
  })
})
