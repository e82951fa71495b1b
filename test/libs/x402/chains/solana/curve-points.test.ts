import { assert, describe, it } from "@effect/vitest"
import { address, isOffCurveAddress } from "@solana/kit"
import { encodeBase58, hasSmallOrder, isOnCurve } from "../../../../../libs/x402/chains/solana/keys.ts"
import { associatedTokenAccount } from "../../../../../libs/x402/chains/solana/instructions.ts"
import { bytesOf, mint, programs, signerOf, tokenAccountOf } from "./transactions.ts"

describe("an Ed25519 point", () => {
  it("is distinguished from a program's address as by Solana's own library", () => {
    let onCurve = 0
    for (let seed = 0; seed < 40; seed += 1) {
      const given = Uint8Array.from({ length: 32 }, (_, index) => (seed * 53 + index * 97 + seed * index) % 256)
      if (isOnCurve(given)) onCurve += 1

      assert.strictEqual(isOnCurve(given), !isOffCurveAddress(address(encodeBase58(given))))
    }
    assert.isAbove(onCurve, 5)
  })

  it("has small order in its few known encodings, with either sign, and in no wallet's address", () => {
    const known = [
      "00".repeat(32),
      `01${"00".repeat(31)}`,
      `ec${"ff".repeat(30)}7f`,
      `ed${"ff".repeat(30)}7f`,
      `ee${"ff".repeat(30)}7f`,
      "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
      "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
    ]
    for (const hex of known) {
      const point = Uint8Array.from(Buffer.from(hex, "hex"))
      const negated = Uint8Array.from(point)
      negated[31] = (negated[31] ?? 0) ^ 0x80

      assert(hasSmallOrder(point) && hasSmallOrder(negated), hex)
    }
    for (const name of ["a", "b", "c"]) assert.isFalse(hasSmallOrder(bytesOf(signerOf(name).address)))
  })
})

describe("a token account", () => {
  it("has the address that Solana's own library derives, under both token programs", async () => {
    for (const owner of ["a", "b", "c", "d"].map((name) => signerOf(name).address)) {
      for (const program of [programs.token, programs.token2022]) {
        assert.strictEqual(associatedTokenAccount(owner, program, mint), await tokenAccountOf(owner, mint, program))
      }
    }
  })

  it("does not exist for an invalid address", () => {
    assert.isUndefined(associatedTokenAccount("nobody", programs.token, mint))
  })
})
