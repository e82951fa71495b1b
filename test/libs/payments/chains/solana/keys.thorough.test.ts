import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { localAccount } from "../../../../../dev/chain/solana/accounts.ts"
import { associatedTokenAccount } from "../../../../../libs/payments/chains/solana/instructions.ts"
import {
  decodeAddress,
  decodeBase58,
  encodeBase58,
  hasSmallOrder,
  readSettlerKey
} from "../../../../../libs/payments/chains/solana/keys.ts"
import { checkPayment } from "../../../../../libs/payments/chains/solana/payment.ts"
import { signTransfer } from "../../../../../libs/payments/chains/solana/sign-transfer.ts"
import { bytesOf, mint, network, payloadOf, programs, quote, signerOf, tokenAccountOf } from "./transactions.ts"
import { limits } from "./vectors.ts"

const account = localAccount("keys", "settler")
const bytes = decodeBase58(account.secretKey) ?? new Uint8Array(0)

describe("a settler's key", () => {
  it("is read from base58, from solana-keygen's file, and from its seed alone", () => {
    const seed = JSON.stringify([...bytes.subarray(0, 32)])
    for (const text of [account.secretKey, `${account.secretKey}\n`, JSON.stringify([...bytes]), seed]) {
      const key = readSettlerKey(network, text)

      assert(Result.isSuccess(key))
      assert.strictEqual(key.success.address, account.address)
      assert.deepStrictEqual(Redacted.value(key.success.secret), bytes.slice(0, 32))
    }
  })

  it("is refused with a reason that shows nothing of it", () => {
    const swapped = Uint8Array.from(bytes)
    swapped[40] = (swapped[40] ?? 0) ^ 1
    const wrong = [JSON.stringify([...swapped]), "[1,2,3]", "[256]", "[1,", account.secretKey.slice(1), "0OIl", ""]
    for (const text of wrong) {
      const key = readSettlerKey(network, text)

      assert(Result.isFailure(key), text)
      assert.notInclude(key.failure, text === "" ? "\n" : text)
    }
  })
})

describe("our own payer", () => {
  const payer = localAccount("keys", "payer")
  const feePayer = signerOf("fee payer").address
  const order = {
    seed: (decodeBase58(payer.secretKey) ?? new Uint8Array(0)).slice(0, 32),
    blockhash: mint,
    decimals: 6,
    memo: "one of a kind"
  }
  const options = { network, feePayers: [feePayer], limits }

  it("signs payments that a gateway accepts, with the quote's memo when there is one", () => {
    for (const extra of [{ feePayer }, { feePayer, memo: "order 7" }]) {
      const requirements = quote({ payTo: signerOf("the gateway").address, extra })
      const signed = signTransfer({ ...order, requirements })
      assert(Result.isSuccess(signed))
      const checked = checkPayment(options, payloadOf(signed.success.transaction, requirements), requirements, 0)

      assert(Result.isSuccess(checked))
      assert.strictEqual(checked.success.payer, payer.address)
    }
  })

  it("signs nothing without a fee payer or for an invalid address", () => {
    const payTo = signerOf("the gateway").address
    const quotes = [
      quote({ payTo, extra: {} }),
      quote({ payTo, extra: { feePayer: "nobody" } }),
      quote({ payTo: "nobody", extra: { feePayer } })
    ]
    for (const requirements of quotes) assert(Result.isFailure(signTransfer({ ...order, requirements })))
  })
})

const patterned = (length: number, seed: number) =>
  Uint8Array.from({ length }, (_, index) => (index < seed % 3 ? 0 : (index * 37 + seed * 101) % 256))

describe("base58", () => {
  it.each([
    ["", ""],
    ["00", "1"],
    ["0000010203", "11Ldp"],
    ["61", "2g"],
    ["516b6fcd0f", "ABnLTmg"],
    ["00eb15231dfceb60925886b67d065299925915aeb172c06647", "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"],
    ["ff".repeat(32), "JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG"]
  ])("writes the bytes %s as %s, and reads them back", (hex, text) => {
    assert.strictEqual(encodeBase58(Buffer.from(hex, "hex")), text)
    assert.deepStrictEqual(decodeBase58(text), new Uint8Array(Buffer.from(hex, "hex")))
  })

  it("reads back what it writes, of every length up to a signature's", () => {
    for (let length = 0; length <= 64; length += 1) {
      const given = patterned(length, length)

      assert.deepStrictEqual(decodeBase58(encodeBase58(given)), given)
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
    assert.isUndefined(decodeAddress(encodeBase58(patterned(33, 1))))
  })
})

describe("an Ed25519 point", () => {
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
