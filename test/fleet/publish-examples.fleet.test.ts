/** The programs of docs/publish-events.md that need nothing but this tree and curl; the judges run those of other languages. */
import { resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { assertPublished, type PublishersFleet, startPublishersFleet } from "../support/publishers.ts"

let fleet: PublishersFleet
beforeAll(async () => {
  fleet = await startPublishersFleet()
})
afterAll(() => fleet?.stop())

describe("the program that publishes", () => {
  it("in TypeScript is answered with the place, the duplicate and the fault, and reads its event back", async () => {
    assertPublished(await fleet.run([process.execPath, resolve("dev/examples/publish/publish.ts")]))
  })

  it("by curl stores one event for one Idempotency-Key, and of a list all or none", async () => {
    const [first, again, refused] = await fleet.run(["sh", resolve("dev/examples/publish/curl.sh")])
    assert.match(first ?? "", /^\{"items":\[\{"sequence":\d+,"duplicate":false\}\]\}$/u)
    assert.strictEqual(again, first)
    assert.match(refused ?? "", /"\/1\/details\/id"/u)
  })
})
