import { assert, describe, it } from "@effect/vitest"
import { addressOfKey, readSettlerKey } from "../../../../../libs/payments/chains/evm/signature.ts"
import { bytesOf } from "../../../../../libs/payments/chains/evm/encoding.ts"

const key = bytesOf(`0x${"4c".repeat(32)}`)

describe("a settler's key", () => {
  it("is read from hex and gives its address", () => {
    const read = readSettlerKey("eip155:84532", ` 0x${"4c".repeat(32)}\n`)

    assert.strictEqual(read._tag, "Success")
    if (read._tag === "Success") assert.strictEqual(read.success.address, addressOfKey(key))
  })

  it.each(["", "0x12", "4c".repeat(33), "zz".repeat(32), "00".repeat(32), "ff".repeat(32)])(
    "is refused without showing any of it: %s",
    (secret) => {
      const read = readSettlerKey("eip155:84532", secret)

      assert.strictEqual(read._tag, "Failure")
      if (read._tag === "Failure" && secret !== "") assert.notInclude(read.failure, secret)
    }
  )
})
