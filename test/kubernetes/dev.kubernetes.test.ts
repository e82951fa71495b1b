import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { fleetDeployments } from "../../deploy/generate/roles.ts"
import { apply, type ClusterFleet, fleetOn } from "./fleet.ts"
import { consoleOrigin, namespaceOf, overlayFolder, withHouse } from "./house.ts"
import { kubectl, untilReady } from "./kubectl.ts"
import { doesItsJobs, type Read } from "./jobs.ts"
import { removeOutside, startOutside } from "./outside.ts"
import { keepsStrangersOut } from "./strangers.ts"

const namespace = namespaceOf("dev")
const folder = overlayFolder("dev")
const readyWithinMs = 300_000

/** An apply's changes, object by object. */
const changes = (said: string) => said.split("\n").filter((line) => line !== "" && !line.endsWith(" unchanged"))

let fleet: ClusterFleet
let token = ""
beforeAll(startOutside)
afterAll(async () => {
  await kubectl("delete", "namespace", namespace, "--ignore-not-found", "--timeout=180s")
  await removeOutside()
})

describe("the development overlay on a cluster", () => {
  it("has every pod ready after one apply, in a namespace that enforces restricted", async () => {
    await apply(folder)
    const tookMs = await untilReady(namespace, readyWithinMs)
    process.stdout.write(`kubernetes: dev is ready ${Math.round(tookMs / 1_000)} s after its apply\n`)

    const enforced = await kubectl("get", "namespace", namespace, "-o", "jsonpath={.metadata.labels}")
    assert.include(enforced, '"pod-security.kubernetes.io/enforce":"restricted"')
  })

  it("changes nothing with a second apply, and says so for each object", async () => {
    assert.deepStrictEqual(changes(await apply(folder)), [])
  })

  it("takes a custom configuration, secrets and egress from an overlay over it", async () => {
    await withHouse("dev", apply)
    await untilReady(namespace, readyWithinMs)
    fleet = fleetOn("dev", { BUS_URL: "nats://nats:4222" })
    token = await fleet.command("token", "make", "--role", "owner")

    assert.isAbove(token.length, 20)
  })

  doesItsJobs(() => ({ fleet, token }))

  keepsStrangersOut("dev")

  it("serves the console with its page where an overlay names it, on one origin with the other APIs", async () => {
    await withHouse("dev", apply, { adds: ["console"] })
    await untilReady(namespace, readyWithinMs)
    const read = (path: string) => fleet.send<Read>("read", { token, url: `${consoleOrigin("dev")}${path}` })

    const page = await read("/")
    assert.strictEqual(page.status, 200, page.text)
    assert.include(page.text, "<title>Starling</title>")
    const frame = await read("/fleet")
    for (const { name } of fleetDeployments) assert.include(frame.text, name)
    for (const path of ["pipeline/projects", "models/v1/models", "speech/v1/voices"]) {
      const { status, text } = await read(`/apis/${path}`)
      assert.strictEqual(status, 200, `${path}: ${text}`)
    }
  })
})
