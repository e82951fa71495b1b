import { readFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { parseAllDocuments } from "yaml"
import { fleetDeployments } from "../../../deploy/generate/roles.ts"
import { root } from "../cluster.ts"
import { missing } from "./controllers.ts"
import { apply, type ClusterFleet, fleetOn, publishOne } from "../fleet.ts"
import { consoleOrigin, namespaceOf, withHouse } from "../house.ts"
import { doesItsJobs, type Read } from "../jobs.ts"
import { kubectl, objectsOf, untilReady, whatIsWrong } from "../kubectl.ts"
import { callers, removeOutside, startOutside } from "../outside.ts"
import {
  beginInstallation,
  type Installation,
  installBrokers,
  installControllers,
  missingByDoctor,
  owned
} from "./installation.ts"
import { keepsStrangersOut } from "../strangers.ts"
import { reader } from "../traffic/order.ts"
import { untilScaled } from "./scaling.ts"
import { survives } from "./survival.ts"

const namespace = namespaceOf("prod")
const readyWithinMs = 300_000
const scaledWithinMs = 240_000

const told = (what: string, tookMs: number) =>
  process.stdout.write(`kubernetes: prod ${what} after ${Math.round(tookMs / 1_000)} s\n`)

const passwordOf = async (user: string) => {
  const said = await kubectl("-n", namespace, "get", "secret", "starling-bus-passwords", "-o", "json")
  const { data } = JSON.parse(said) as { readonly data: Readonly<Record<string, string>> }
  return Buffer.from(data[user] ?? "", "base64").toString()
}

const authorityOfBrokers = () =>
  kubectl("-n", namespace, "get", "configmap", "starling-bus-ca", "-o", "jsonpath={.data.ca\\.crt}")

/** Streams, buckets and object stores of the overlay. */
const declaredCount = () => parseAllDocuments(readFileSync(join(root, "deploy/k8s/nats/streams.yaml"), "utf8")).length

let installation: Installation
let fleet: ClusterFleet
let token = ""
let readerPassword = ""

const left = missing().production
describe.skipIf(left.length > 0)("the production overlay on a cluster", () => {
  beforeAll(async () => {
    await startOutside()
    installation = beginInstallation()
  })
  afterAll(async () => {
    await installation.end()
    await removeOutside()
  })

  it("finds its brokers and NACK ready after the page's commands, in a namespace that enforces restricted", async () => {
    const beganMs = performance.now()
    await installation.step("Namespace")
    await installControllers(installation)
    await installBrokers(installation)
    told("has its brokers and controllers", performance.now() - beganMs)

    const enforced = await kubectl("get", "namespace", namespace, "-o", "jsonpath={.metadata.labels}")
    assert.include(enforced, '"pod-security.kubernetes.io/enforce":"restricted"')
  })

  it("lacks by the doctor, before the apply, only the parts of monitoring that these tests do not run", async () => {
    await installation.step("An overlay of your own")

    assert.sameMembers(await missingByDoctor(installation), [
      ...(missing().scaling.length > 0 ? ["KEDA does not run"] : []),
      "the Prometheus operator does not run",
      "the cluster has no metrics-server",
      "there is no service prometheus-operated in the namespace monitoring"
    ])
  })

  it("has every stream and every role ready after the page's overlay is applied", async () => {
    const beganMs = performance.now()
    const authority = await authorityOfBrokers()
    const only = (command: string) => (line: string) => (line.startsWith(command) ? line : "")
    await installation.step("Apply", only("kubectl apply"))
    assert.strictEqual(await authorityOfBrokers(), authority, "the apply changed the ConfigMap starling-bus-ca")
    await installation.step("Apply", only("kubectl -n starling wait"))
    await untilReady(namespace, readyWithinMs, owned)
    told("is ready", performance.now() - beganMs)

    assert.strictEqual((await objectsOf(namespace, owned)).length, declaredCount())
  })

  it.skipIf(missing().scaling.length > 0)(
    "has two pods of every role, by KEDA, whose autoscaler reads the broker's backlog of both engines",
    async () => {
      const beganMs = performance.now()
      const readyPods = Object.fromEntries(fleetDeployments.map(({ name }) => [name, 2]))
      const wanted = { readyPods, figures: 2 }
      const seen = await untilScaled(
        { namespace, autoscaler: "keda-hpa-speech-synthesizer", withinMs: scaledWithinMs },
        (scaled) => isDeepStrictEqual(scaled, wanted)
      )
      told("is scaled", performance.now() - beganMs)

      const faults = isDeepStrictEqual(seen, wanted) ? "" : await whatIsWrong(namespace, "scaledobjects.keda.sh")
      assert.deepStrictEqual(seen, wanted, faults)
    }
  )

  it("changes nothing with a second apply", async () => {
    assert.strictEqual(await kubectl("diff", "-k", installation.overlay), "")
  })

  it("makes a token by the page's commands, in a pod of the operator", async () => {
    const said = (await installation.step("The first token")).split("\n")
    token = said[said.findIndex((line) => line.endsWith("condition met")) + 1] ?? ""

    assert.match(token, /^\S{20,}$/u)
  })

  it("takes a custom configuration, secrets and egress from an overlay over it", async () => {
    await withHouse("prod", apply)
    await untilReady(namespace, readyWithinMs)
    fleet = fleetOn("prod", { BUS_USER: "internal-services", BUS_PASSWORD: await passwordOf("internal-services") })

    const configured = await kubectl("-n", namespace, "get", "configmaps", "-o", "jsonpath={.items[*].data}")
    assert.include(configured, "http://model-gateway.starling")
  })

  doesItsJobs(() => ({ fleet, token }))

  keepsStrangersOut("prod")

  it("admits a service of another namespace to the broker by the page's commands", async () => {
    await installation.step("Services that publish", (line) => line.replaceAll("shop", callers))
    readerPassword = await passwordOf(reader)

    const path = "jsonpath={.data.password}"
    assert.notStrictEqual(await kubectl("-n", callers, "get", "secret", "starling-bus", "-o", path), "")
  })

  survives(() => ({ fleet, token, busUrl: `tls://nats.${namespace}.svc:4222`, readerPassword }))

  it("keeps the events of a stream whose object is deleted, and takes it up again at the next apply", async () => {
    const before = await publishOne(fleet, "sandbox.leak_detected")
    await kubectl("-n", namespace, "delete", "streams.jetstream.nats.io", "events", "--timeout=60s")
    await withHouse("prod", apply)
    await untilReady(namespace, readyWithinMs, owned)

    assert.isAbove(await publishOne(fleet, "sandbox.leak_detected"), before)
  })

  it("adds the console by the page's commands, which shows every role to the edge", async () => {
    await installation.step("The console", (line) => line.replaceAll("ingress-nginx", callers))

    const { status, text } = await fleet.send<Read>("read", { token, url: `${consoleOrigin("prod")}/fleet` })
    assert.strictEqual(status, 200, text)
    for (const { name } of fleetDeployments) assert.include(text, name)
  })
})
