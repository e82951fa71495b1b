/** The tests of an overlay's network policies, each tried by connections from inside pods. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { houseWayOut, namespaceOf, type OverlayName, servicesWayIn } from "./house.ts"
import { kubectl } from "./kubectl.ts"
import { breaches, type Places, placesOf, policyTries } from "./policies.ts"
import { removeStrangers, startStrangers } from "./reach.ts"

/** Of an overlay that an earlier test applies. */
export const keepsStrangersOut = (overlay: OverlayName) => {
  const tries = policyTries(overlay)
  const ofTheTests: ReadonlyArray<string> = [houseWayOut, servicesWayIn]
  let places: Places

  describe("its network policies", () => {
    beforeAll(async () => {
      await startStrangers()
      places = await placesOf(overlay)
    })
    afterAll(removeStrangers)

    it("are all tried below", async () => {
      const path = "jsonpath={.items[*].metadata.name}"
      const names = (await kubectl("-n", namespaceOf(overlay), "get", "networkpolicies", "-o", path)).split(" ")
      const ours = names.filter((name) => !ofTheTests.includes(name))
      assert.sameMembers(ours, [...tries.keys()])
    })

    it.each([...tries])("admit through %s what they must, and nothing else", async (_, triesOf) => {
      assert.deepStrictEqual(await breaches(triesOf(places)), [])
    })
  })
}
