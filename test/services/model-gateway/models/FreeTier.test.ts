import { assert, describe, it } from "@effect/vitest"
import { clientAddress } from "../../../../services/model-gateway/models/FreeTier.ts"

describe("the caller's address, by which calls are counted,", () => {
  const addressOf = clientAddress(["10.0.0.0/8", "127.0.0.1/32", "fd00::/8"])
  const table = [
    ["203.0.113.7", undefined, "203.0.113.7"],
    ["203.0.113.7", "198.51.100.1", "203.0.113.7"],
    ["::ffff:203.0.113.7", undefined, "203.0.113.7"],
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "192.0.2.66, 198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "192.0.2.66, 198.51.100.1, 10.0.0.9", "198.51.100.1"],
    ["10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"],
    ["10.0.0.1", undefined, "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1, nonsense", "10.0.0.1"],
    ["10.0.0.1", "198.51.100.1:5555", "198.51.100.1"],
    ["fd00::1", "[2001:db8:1:2::99]:443", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:3:4:5:6", undefined, "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::7", undefined, "2001:db8:1:2::/64"],
    ["2001:db8::1", undefined, "2001:db8:0:0::/64"],
    ["::1", undefined, "0:0:0:0::/64"]
  ] as const

  it.each(table.map((row) => ({ row, name: `${row[0]} for ${row[1] ?? "nobody"}` })))("is found: $name", ({ row }) => {
    const [peer, forwardedFor, expected] = row
    assert.strictEqual(addressOf(peer, forwardedFor), expected)
  })

  it("cannot be chosen by a caller with any header", () => {
    for (const forged of ["1.1.1.1", "10.0.0.5", "", ",,,", "1.1.1.1, 10.0.0.5"]) {
      assert.strictEqual(addressOf("10.0.0.1", `${forged}, 198.51.100.1, 10.2.3.4`), "198.51.100.1")
    }
  })
})
