import { readFileSync } from "node:fs"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parseAllDocuments } from "yaml"
import { metricsPort, roleDeployments } from "../../deploy/generate/roles.ts"
import { repository } from "../deploy/tools.ts"
import { freePort } from "../../dev/fixtures/free-port.ts"
import { endRoles, startRole } from "../support/role.ts"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { startWithinMs, until } from "../../dev/fixtures/eventually.ts"

const opsPaths = ["/metrics", "/livez", "/readyz"]
const apis = ["pipeline", "gateway", "speech"] as const

let home: Home
let fleet: RunningFleet
beforeAll(async () => {
  home = newHome()
  fleet = await startFleet(home)
})
afterAll(async () => {
  await endRoles()
  await fleet.stop("SIGTERM")
  home.remove()
})

const urlOf = (api: (typeof apis)[number]) => fleet.ready[api]

/** As they are, and in spellings that try to get past a comparison of texts. */
const spellings = (path: string) => [path, `${path}/`, `${path}?a=1`, `/${path}`, `/v1/..${path}`, path.toUpperCase()]

/** An address of this machine that is not loopback, where it has one. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address

const answers = (url: string) =>
  fetch(url).then(
    ({ status }) => status,
    () => 0
  )

describe("a public port", () => {
  it.each(apis)("of %s does not serve metrics and health, in any spelling of their paths", async (api) => {
    const token = { authorization: `Bearer ${fleet.ready.token}` }
    for (const path of opsPaths.flatMap(spellings)) {
      const answer = await fetch(`${urlOf(api)}${path}`, { headers: token })
      const text = await answer.text()
      assert.strictEqual(answer.status, 404, `${path}: ${text}`)
      assert.notMatch(text, /# HELP|"checks"/u)
    }
  })

  it("of the facilitator does not serve them either", async () => {
    const port = await freePort()
    const verifier = await startRole("payment-verifier", {
      configuration: {
        Bus: fleet.roleBus,
        PaymentVerifier: { FacilitatorPort: port }
      }
    })
    await until(() => verifier.status("/readyz"), { is: 200, withinMs: startWithinMs })
    const url = `http://127.0.0.1:${port}`

    assert.strictEqual(await answers(`${url}/supported`), 200)
    for (const path of opsPaths) assert.strictEqual(await answers(`${url}${path}`), 404, path)
  })
})

describe("the port of metrics and health", () => {
  it("is separate, and the only one that serves them", async () => {
    const ports = [fleet.ready.metrics, ...apis.map(urlOf)].map((url) => new URL(url).port)

    assert.strictEqual(new Set(ports).size, ports.length)
    for (const path of opsPaths) assert.strictEqual(await answers(`${fleet.ready.metrics}${path}`), 200)
    assert.strictEqual(await answers(`${fleet.ready.metrics}/workitems`), 404)
  })

  it.skipIf(outside === undefined)(
    "is bound to loopback alone, as the others, unless it is told otherwise",
    async () => {
      for (const url of [fleet.ready.metrics, ...apis.map(urlOf)]) {
        assert.strictEqual(new URL(url).hostname, "127.0.0.1")
        assert.strictEqual(await answers(`http://${outside}:${new URL(url).port}/livez`), 0, url)
      }
      const told = await startRole("sweeper", {
        configuration: { Bus: fleet.roleBus, Telemetry: { Host: "0.0.0.0" } }
      })
      await until(() => told.status("/livez"), { is: 200, withinMs: startWithinMs })
      assert.strictEqual(await answers(`http://${outside}:${new URL(told.url).port}/livez`), 200)
    }
  )
})

interface Policy {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly podSelector: object
    readonly ingress?: ReadonlyArray<{
      readonly from?: ReadonlyArray<object>
      readonly ports: ReadonlyArray<{ port: unknown }>
    }>
  }
}

describe("the cluster's network", () => {
  const folderOf = (name: string, isOptional?: boolean) => (isOptional === true ? name : "base")
  const files = [
    "base/network",
    ...roleDeployments.map(({ name, isOptional }) => `${folderOf(name, isOptional)}/${name}`)
  ]
  const policies = files
    .flatMap((name) => parseAllDocuments(readFileSync(join(repository, `deploy/k8s/${name}.yaml`), "utf8")))
    .map((document) => document.toJS() as Policy)
    .filter(({ kind }) => kind === "NetworkPolicy")
  const open = policies.flatMap(({ metadata, spec }) =>
    (spec.ingress ?? []).map(({ from, ports }) => ({ name: metadata.name, from, ports: ports.map(({ port }) => port) }))
  )

  it("admits only the scraper's namespace to the port of metrics", () => {
    const toMetrics = open.filter(({ ports }) => ports.includes("metrics") || ports.includes(metricsPort))

    assert.deepStrictEqual(toMetrics, [
      {
        name: "metrics",
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
        ports: ["metrics"]
      }
    ])
  })

  it("opens only the APIs' own ports to others, and the facilitator's to nobody", () => {
    const others = open.filter(({ name }) => name !== "metrics")
    const opened = roleDeployments.filter(({ api }) => api !== undefined && api.isClosed !== true)

    assert.isTrue(others.every(({ ports }) => ports.length === 1 && ports[0] === "http"))
    assert.sameMembers(
      others.map(({ name }) => name),
      opened.map(({ name }) => `${name}-callers`)
    )
    assert.notInclude(
      opened.map(({ name }) => name),
      "payment-verifier"
    )
  })
})
