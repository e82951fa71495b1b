import { describe, expect, it } from "vitest"
import { addAddress, endpointAddress, endpointAt } from "../../page/endpoint-addresses.ts"

const pathOf = (address: string) => address.split("?", 1)[0] ?? ""

describe("the addresses of endpoints in the page", () => {
  it.each(["ci", "add", "new", "a/b", "100%", "a%2Fb", "what?", "#1", "café ☕"])(
    "lead to the one named %j",
    (name) => {
      expect(endpointAt(pathOf(endpointAddress(name)))).toBe(name)
    }
  )

  it("name no endpoint for the list and for the form that adds one", () => {
    expect([endpointAt("/endpoints"), endpointAt("/endpoints/"), endpointAt(pathOf(addAddress))]).toEqual([
      undefined,
      undefined,
      undefined
    ])
  })

  it("take what somebody typed without encoding it", () => {
    expect(endpointAt("/endpoints/100%")).toBe("100%")
  })
})
