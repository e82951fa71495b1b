import { describe, expect, it } from "vitest"
import { pathOf } from "../../../../page/screens/find/paths.ts"

const payer = "0x00000000000000000000000000000000000000aa"

describe("where the page shows what was found", () => {
  it.each([
    ["event", "17", "/events/17"],
    ["attempt", "17.3", "/find?id=17.3"],
    ["endpoint", "a shop/eu", "/endpoints/a%20shop%2Feu"],
    ["payer", payer, `/activity?payer=${payer}`],
    ["act", "req_1", "/settings/acts"]
  ] as const)("of %s %s is %s", (kind, id, path) => {
    expect(pathOf({ kind, id })).toBe(path)
  })
})
