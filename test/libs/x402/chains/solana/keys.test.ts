import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { localAccount } from "../../../../../dev/chain/solana/accounts.ts"
import { decodeBase58, readSettlerKey } from "../../../../../libs/x402/chains/solana/keys.ts"
import { checkPayment } from "../../../../../libs/x402/chains/solana/check.ts"
import { signTransfer } from "../../../../../libs/x402/chains/solana/sign-transfer.ts"
import { mint, network, payloadOf, quote, signerOf } from "./transactions.ts"
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
