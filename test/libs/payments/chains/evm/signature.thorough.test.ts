import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { hashTypedData, keccak256, parseTransaction, recoverAddress, recoverTransactionAddress, toRlp } from "viem"
import { asset, payTo, transferTypes } from "../../../../../dev/fixtures/evm/payments.ts"
import {
  bytesOf,
  encodeRlp,
  hexOf,
  keccak256 as ourKeccak256
} from "../../../../../libs/payments/chains/evm/encoding.ts"
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
const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

describe("a settling transaction", () => {
  const Small = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 40 }))
  it.effect.prop(
    "is decoded by another library as intended, with the right hash and sender",
    [Small, Small, Small, Bytes],
    ([nonce, tip, gas, content]) =>
      Effect.gen(function* () {
        const data = Uint8Array.from([1, ...content])
        const fields = { nonce: BigInt(nonce), tipWei: BigInt(tip), feeMaxWei: BigInt(tip) + 1n, gas: BigInt(gas) }

        const { hash, raw } = yield* signTransaction({ ...fields, chainId: 84_532n, to: asset, data }, signer)

        const read = parseTransaction(raw)
        assert.strictEqual(read.chainId, 84_532)
        assert.strictEqual(read.nonce ?? 0, nonce)
        assert.strictEqual(read.maxPriorityFeePerGas ?? 0n, fields.tipWei)
        assert.strictEqual(read.maxFeePerGas, fields.feeMaxWei)
        assert.strictEqual(read.gas ?? 0n, fields.gas)
        assert.strictEqual(read.to, asset.toLowerCase())
        assert.strictEqual(read.data, hexOf(data))
        assert.strictEqual(hash, keccak256(raw))
        const serializedTransaction = raw as `0x02${string}`
        const sender = yield* Effect.promise(() => recoverTransactionAddress({ serializedTransaction }))
        assert.strictEqual(sender.toLowerCase(), addressOfKey(key))
      }),
    { arbitrary: { runs: 20 } }
  )

  it.prop("has the RLP encoding of another library", [Schema.Array(Schema.Array(Bytes))], ([lists]) => {
    const item = lists.map((list) => list.map((bytes) => Uint8Array.from(bytes)))

    assert.strictEqual(hexOf(encodeRlp(item)), toRlp(item, "hex"))
  })

  it.each([0, 1, 55, 56, 255, 256, 70_000])("has that encoding with %d bytes too", (length) => {
    assert.strictEqual(hexOf(encodeRlp(new Uint8Array(length))), toRlp(new Uint8Array(length), "hex"))
    assert.strictEqual(hexOf(encodeRlp([new Uint8Array(length)])), toRlp([new Uint8Array(length)], "hex"))
  })
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
  it.prop("is the one of EVM chains", [Bytes], ([bytes]) => {
    assert.strictEqual(hexOf(ourKeccak256(Uint8Array.from(bytes))), keccak256(Uint8Array.from(bytes)))
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
