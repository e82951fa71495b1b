import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { hashTypedData, recoverAddress, recoverTransactionAddress } from "viem"
import { asset, payTo, transferTypes } from "../../../../../dev/fixtures/evm/payments.ts"
import { bytesOf, hexOf, keccak256 } from "../../../../../libs/payments/chains/evm/encoding.ts"
import {
  addressOfKey,
  type Authorization,
  authorizationDigest,
  type Curve,
  domainSeparator,
  hostCurve,
  localKey,
  signAuthorization,
  wasmCurve
} from "../../../../../libs/payments/chains/evm/signature.ts"
import { signTransaction } from "../../../../../libs/payments/chains/evm/transaction.ts"

const key = bytesOf(`0x${"4c".repeat(32)}`)
const payer = addressOfKey(key) ?? "0x"
const signer = Result.getOrThrow(localKey("eip155:84532", key))
const domain = { name: "USDC", version: "2", chainId: 84_532n, asset }

describe("a settling transaction", () => {
  const chain = { chainId: 84_532n, to: asset }

  // Made by another encoder than ours; anvil and geth read them.
  it.effect.each([
    [
      { nonce: 0n, tipWei: 0n, feeMaxWei: 1n, gas: 21_000n, data: new Uint8Array() },
      "0x691864577f7c5aeb9a37f05bccdcd86a1b8b48deda275f0352e38ef744234adf",
      "0x02f86583014a3480800182520894036cbd53842c5426634e7929541ec2318f3dcf7e8080c080a0e8ca0ea38ee6fa0e" +
        "6b6568b8af5aeae5f5030c61e0f1b4b81bea8bff0837e02aa025e60170f56c370ca8c418269e30c201f11d5c9b375d32" +
        "1e8a32fc0290eb7b1a"
    ],
    [
      { nonce: 127n, tipWei: 1_000_000n, feeMaxWei: 3_000_000_000n, gas: 150_000n, data: Buffer.alloc(36, 7) },
      "0xd2d31c33a26f5fd0c23ee5568363740c44d8f6e42bfc31c0ada4a8dd2f4fc4d8",
      "0x02f89183014a347f830f424084b2d05e00830249f094036cbd53842c5426634e7929541ec2318f3dcf7e80a4070707" +
        "070707070707070707070707070707070707070707070707070707070707070707c080a0ff6d07ccdd65b97399baec76" +
        "b739dc581805a55f045c76869d8c0c5814e25247a048fba9fcf3ceb18e62668ce1c5204fefa92d03b82d581e44baa887" +
        "038ea07d54"
    ],
    [
      { nonce: 128n, tipWei: 2n ** 40n, feeMaxWei: 2n ** 41n, gas: 2n ** 24n, data: Buffer.alloc(300, 9) },
      "0xd7d7ac6166a32a5b4f1ec1aa7080eb9d53950935127588dd9d234f30564a04fb",
      "0x02f901a283014a3481808601000000000086020000000000840100000094036cbd53842c5426634e7929541ec2318f" +
        "3dcf7e80b9012c0909090909090909090909090909090909090909090909090909090909090909090909090909090909" +
        "090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909" +
        "090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909" +
        "090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909" +
        "090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909" +
        "090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909090909" +
        "09090909090909090909090909090909090909c080a0d09b9e310325021b7af4f053e87c8766329a335b18efe3cac3d2" +
        "ff673220ffe9a021b0434352c37015103a370766512421030a894add135db3beba20966a2834f4"
    ]
  ] as const)("is the chain's own encoding, with its hash and its sender: %o", ([fields, hash, raw]) =>
    Effect.gen(function* () {
      const signed = yield* signTransaction({ ...chain, ...fields }, signer)

      assert.strictEqual<string>(signed.raw, raw)
      assert.strictEqual(signed.hash, hash)
      const serializedTransaction = signed.raw as `0x02${string}`
      const sender = yield* Effect.promise(() => recoverTransactionAddress({ serializedTransaction }))
      assert.strictEqual(sender.toLowerCase(), payer)
    })
  )
})

/** As many bytes as are wanted, at random but the same for the same number. */
const bytesOfSeed = (seed: number, bytes: number) =>
  hexOf(createHash("shake256", { outputLength: bytes }).update(String(seed)).digest())

describe("a payer's typed data", () => {
  it.prop("has the hash that wallets compute", [Schema.Int, Schema.String], ([seed, name]) => {
    const authorization = {
      from: bytesOfSeed(seed, 20),
      to: bytesOfSeed(seed + 1, 20),
      value: BigInt(bytesOfSeed(seed + 2, 32)),
      validAfter: BigInt(bytesOfSeed(seed + 3, 4)),
      validBefore: BigInt(bytesOfSeed(seed + 4, 32)),
      nonce: bytesOfSeed(seed + 5, 32)
    }

    const ours = authorizationDigest(domainSeparator({ ...domain, name }), authorization)

    const theirs = hashTypedData({
      domain: { name, version: "2", chainId: 84_532, verifyingContract: asset },
      types: transferTypes,
      primaryType: "TransferWithAuthorization",
      message: authorization
    })
    assert.strictEqual(hexOf(ours), theirs)
  })

  it("has a signature from which others recover the signer", async () => {
    const authorization: Authorization = {
      from: payer,
      to: payTo,
      value: 25_685n,
      validAfter: 0n,
      validBefore: 1_790_000_600n,
      nonce: `0x${"ab".repeat(32)}`
    }
    const hash = hexOf(authorizationDigest(domainSeparator(domain), authorization))

    const found = await recoverAddress({ hash, signature: signAuthorization(key, domain, authorization) })

    assert.strictEqual(found.toLowerCase(), payer)
  })
})

describe("keccak", () => {
  it.each([
    ["", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"],
    ["abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"]
  ])("is the one of EVM chains: %s", (text, expected) => {
    assert.strictEqual(hexOf(keccak256(Buffer.from(text))), `0x${expected}`)
  })
})

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint) => bytesOf(`0x${value.toString(16).padStart(64, "0")}`)
const fieldPrime = 2n ** 256n - 2n ** 32n - 977n

const host = await hostCurve()

/** Whoever has no such library recovers by WebAssembly alone. */
describe.skipIf(host === undefined)("the curve of the host", async () => {
  const [ours, theirs] = [host as Curve, await wasmCurve()]

  it.prop("signs and recovers as the one in WebAssembly does", [Schema.Int, Schema.Int], ([seed, other]) => {
    const [digest, privateKey] = [bytesOf(bytesOfSeed(seed, 32)), bytesOf(bytesOfSeed(other, 32))]

    const signed = ours.sign(digest, privateKey)

    assert.deepStrictEqual(signed, theirs.sign(digest, privateKey))
    if (signed === undefined) return
    const point = ours.pointOf(privateKey)
    assert.deepStrictEqual(point, theirs.pointOf(privateKey))
    assert.deepStrictEqual(ours.recover(digest, signed), point)
    const swapped = { ...signed, parity: signed.parity === 0 ? 1 : 0 } as const
    assert.notDeepEqual(ours.recover(digest, swapped), point)
    assert.deepStrictEqual(ours.recover(digest, swapped), theirs.recover(digest, swapped))
  })

  it.prop("makes the same of any 64 bytes", [Schema.Int, Schema.Int], ([seed, other]) => {
    const digest = bytesOf(bytesOfSeed(other, 32))
    for (const parity of [0, 1] as const) {
      const signature = { bytes: bytesOf(bytesOfSeed(seed, 64)), parity }

      assert.deepStrictEqual(ours.recover(digest, signature), theirs.recover(digest, signature))
    }
  })

  it("makes the same of numbers at the ends of their range", () => {
    const edges = [0n, 1n, 2n, order / 2n, order - 1n, order, order + 1n, fieldPrime - 1n, fieldPrime, 2n ** 256n - 1n]
    for (const r of edges) {
      for (const s of edges) {
        for (const digest of [0n, 1n, order, 2n ** 256n - 1n]) {
          for (const parity of [0, 1] as const) {
            const signature = { bytes: Buffer.concat([word(r), word(s)]), parity }

            const found = ours.recover(word(digest), signature)

            assert.deepStrictEqual(found, theirs.recover(word(digest), signature), `${r} ${s} ${digest} ${parity}`)
          }
        }
      }
    }
    for (const number of edges) {
      const [digest, privateKey] = [word(3n), word(number)]
      assert.deepStrictEqual(ours.sign(digest, privateKey), theirs.sign(digest, privateKey), `${number}`)
      assert.deepStrictEqual(ours.pointOf(privateKey), theirs.pointOf(privateKey), `${number}`)
    }
  })

  it("reads a public key in both forms, and nothing else", () => {
    const point = ours.pointOf(key) ?? new Uint8Array()
    const x = point.slice(1, 33)
    const forms = [
      point,
      Buffer.concat([Buffer.from([2]), x]),
      Buffer.concat([Buffer.from([3]), x]),
      Buffer.concat([Buffer.from([5]), x]),
      Buffer.concat([Buffer.from([2]), word(fieldPrime)]),
      Buffer.concat([Buffer.from([4]), x, x]),
      Buffer.alloc(65),
      Buffer.alloc(33)
    ]
    for (const form of forms) assert.deepStrictEqual(ours.uncompress(form), theirs.uncompress(form), hexOf(form))
    assert.deepStrictEqual(ours.uncompress(Buffer.concat([Buffer.from([2 + ((point[64] ?? 0) & 1)]), x])), point)
    for (const length of [0, 1, 32, 34, 64, 66]) assert.isUndefined(ours.uncompress(Buffer.alloc(length, 2)))
  })

  it("answers bytes of a wrong length with nothing", () => {
    const signed = ours.sign(word(7n), key)
    assert.isDefined(signed)
    if (signed === undefined) return
    assert.isUndefined(ours.recover(word(7n).subarray(1), signed))
    assert.isUndefined(ours.recover(word(7n), { ...signed, bytes: signed.bytes.subarray(1) }))
    assert.isUndefined(ours.sign(word(7n).subarray(1), key))
    assert.isUndefined(ours.sign(word(7n), key.subarray(1)))
    assert.isUndefined(ours.pointOf(key.subarray(1)))
  })
})
