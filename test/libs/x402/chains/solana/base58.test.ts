import { assert, describe, it } from "@effect/vitest"
import { getBase58Decoder } from "@solana/kit"
import { decodeAddress, decodeBase58, encodeBase58 } from "../../../../../libs/x402/chains/solana/keys.ts"

const bytes = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => (index < seed % 3 ? 0 : (index * 37 + seed * 101) % 256))

describe("base58", () => {
  it("encodes like Solana's own library, and decodes it back", () => {
    for (let length = 0; length <= 64; length += 1) {
      const given = bytes(length, length)
      const text = encodeBase58(given)

      assert.strictEqual(text, getBase58Decoder().decode(given))
      assert.deepStrictEqual(decodeBase58(text), given)
    }
  })

  it("refuses other letters, and text longer than a signature", () => {
    for (const text of ["0", "O", "I", "l", "é", "a b", "1".repeat(65), "z".repeat(88), "1".repeat(1_000_000)]) {
      assert.isUndefined(decodeBase58(text))
    }
  })

  it("accepts 32 bytes as an address and nothing else", () => {
    assert.strictEqual(decodeAddress("11111111111111111111111111111111")?.length, 32)
    assert.isUndefined(decodeAddress("1111111111111111111111111111111"))
    assert.isUndefined(decodeAddress(encodeBase58(bytes(33, 1))))
  })
})
