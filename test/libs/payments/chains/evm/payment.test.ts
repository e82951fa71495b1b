import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { asset, network, payTo, requirementsOf } from "../../../../../dev/fixtures/evm/terms.ts"
import { bytesOf, checksummed, hexOf, isWellSpelled } from "../../../../../libs/payments/chains/evm/encoding.ts"
import { checkPayment, termsFault } from "../../../../../libs/payments/chains/evm/payment.ts"
import {
  addressOfKey,
  type Authorization,
  domainSeparator,
  DomainSeparators,
  readSignature,
  signAuthorization
} from "../../../../../libs/payments/chains/evm/signature.ts"
import { explained } from "../../../../../libs/payments/errors.ts"

const key = bytesOf(`0x${"4c".repeat(32)}`)
const payer = addressOfKey(key) ?? "0x"
const nowMs = 1_790_000_000_500
const now = 1_790_000_000n
const domain = { name: "USDC", version: "2", chainId: 84_532n, asset }
const options = {
  network,
  chainId: 84_532n,
  domains: new DomainSeparators(),
  marginSeconds: 6,
  isSignatureKnown: false
}

const authorizationOf = (changes: Partial<Authorization> = {}): Authorization => ({
  from: payer,
  to: payTo,
  value: 25_685n,
  validAfter: 0n,
  validBefore: now + 600n,
  nonce: `0x${"ab".repeat(32)}`,
  ...changes
})

const check = (
  authorization: Authorization,
  changes: Parameters<typeof requirementsOf>[0] = {},
  { signer = key, isSignatureKnown = false } = {}
) => {
  const requirements = requirementsOf(changes)
  const { from, to, nonce } = authorization
  const written = {
    from,
    to,
    nonce,
    value: String(authorization.value),
    validAfter: String(authorization.validAfter),
    validBefore: String(authorization.validBefore)
  }
  const payload = { signature: signAuthorization(signer, domain, authorization), authorization: written }
  return checkPayment({ x402Version: 2, accepted: requirements, payload }, requirements, nowMs, {
    ...options,
    isSignatureKnown
  })
}

const reasonOf = (result: ReturnType<typeof check>): unknown =>
  Result.isFailure(result) ? { code: result.failure.code, reason: result.failure.reason } : "good"

describe("the checks of a payment on an EVM chain", () => {
  it("accept a good one, with payer, amount and receiver in one notation", () => {
    const good = Result.getOrThrow(check(authorizationOf()))

    assert.strictEqual(good.payer, payer)
    assert.strictEqual(good.asset, asset.toLowerCase())
    assert.strictEqual(good.payTo, payTo.toLowerCase())
    assert.strictEqual(good.amount, 25_685n)
    assert.strictEqual(good.validBeforeMs, Number(now + 600n) * 1_000)
    assert.match(good.claimKey, /^claim\./u)
  })

  const window = { code: "PAYMENT_UNFUNDED", reason: "invalid_exact_evm_payload_authorization_valid_before" }
  const long = { code: "PAYMENT_UNFUNDED", reason: "invalid_exact_evm_payload_authorization_valid_too_long" }
  const early = { code: "PAYMENT_UNFUNDED", reason: "invalid_exact_evm_payload_authorization_valid_after" }
  it.each([
    ["ends in six seconds", { validBefore: now + 6n }, "good"],
    ["ends in five seconds", { validBefore: now + 5n }, window],
    ["ends a minute after the time that was asked for", { validBefore: now + 660n }, "good"],
    ["ends later than that", { validBefore: now + 661n }, long],
    ["begins this second", { validAfter: now }, "good"],
    ["begins the next second", { validAfter: now + 1n }, early],
    ["ends before it begins", { validAfter: now + 100n, validBefore: now + 50n }, early]
  ] as const)("apply the window to the second: one that %s", (_, changes, expected) => {
    assert.deepStrictEqual(reasonOf(check(authorizationOf(changes))), expected)
  })

  it("report by how much a payment is valid for too long, and not that it has expired", () => {
    const refusal = Result.getOrThrow(Result.flip(check(authorizationOf({ validBefore: now + 3_600n }))))
    assert.strictEqual(
      explained(refusal.reason, refusal.detail),
      "invalid_exact_evm_payload_authorization_valid_too_long: authorization valid for too long: " +
        "validBefore is 3600 s ahead; it may be at most maxTimeoutSeconds, 600 s, and 60 s for clocks that differ"
    )
  })

  it.prop("refuse every amount except the requested one", [Schema.Int], ([offset]) => {
    const fault = termsFault(authorizationOf({ value: 25_685n + BigInt(offset) }), requirementsOf(), nowMs, 6)

    const wrong = "invalid_exact_evm_payload_authorization_value_mismatch"
    assert.strictEqual(fault, offset === 0 ? undefined : wrong)
  })

  it("refuse another signer's signature, and check all but the signature when it is known", () => {
    const stranger = { signer: bytesOf(`0x${"4d".repeat(32)}`) }
    const known = { ...stranger, isSignatureKnown: true }
    const forged = { code: "PAYMENT_INVALID", reason: "invalid_exact_evm_signature" }
    const late = authorizationOf({ validBefore: now + 5n })

    assert.deepStrictEqual(reasonOf(check(authorizationOf(), {}, stranger)), forged)
    assert.strictEqual(reasonOf(check(authorizationOf(), {}, known)), "good")
    assert.deepStrictEqual(reasonOf(check(late, {}, known)), window)
    assert.deepStrictEqual(
      Result.getOrThrow(check(authorizationOf(), {}, { isSignatureKnown: true })),
      Result.getOrThrow(check(authorizationOf()))
    )
  })

  it("refuse another chain", () => {
    assert.deepStrictEqual(reasonOf(check(authorizationOf(), { network: "eip155:8453" })), {
      code: "PAYMENT_INVALID",
      reason: "invalid_exact_evm_network_mismatch"
    })
  })

  it("refuse requirements of another chain family", () => {
    const reason = "invalid_payment_requirements"
    const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

    assert.deepStrictEqual(reasonOf(check(authorizationOf(), { asset: mint })), { code: "PAYMENT_INVALID", reason })
    assert.deepStrictEqual(reasonOf(check(authorizationOf(), { payTo: mint })), { code: "PAYMENT_INVALID", reason })
  })

  it("cache the hashes of a few domains only, and stay correct", () => {
    const domains = new DomainSeparators()
    for (let index = 0; index < 300; index += 1) {
      const other = { ...domain, name: `token ${index % 100}` }
      assert.deepStrictEqual(domains.of(other), domainSeparator(other))
    }
  })
})

/** As many bytes as are wanted, at random but the same for the same number. */
const bytesOfSeed = (seed: number, bytes: number) =>
  hexOf(createHash("shake256", { outputLength: bytes }).update(String(seed)).digest())
const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

describe("an address in text", () => {
  it.each([
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"
  ])("has its checksum in its capitals: %s", (address) => {
    assert.strictEqual(checksummed(address.toLowerCase()), address)
    assert.isTrue(isWellSpelled(address))
    assert.isTrue(isWellSpelled(address.toLowerCase()))
    assert.isFalse(isWellSpelled(`0x${address.slice(2).toUpperCase()}`))
  })
})

describe("a signature", () => {
  const whole = signAuthorization(key, domain, authorizationOf())

  it.prop("is read from 65 bytes only", [Bytes], ([bytes]) => {
    const read = readSignature(hexOf(Uint8Array.from(bytes)))

    assert.isTrue(Result.isFailure(read) || bytes.length === 65)
  })

  it.prop("of 65 bytes is read only with one of four endings, and with s in the lower half", [Schema.Int], ([seed]) => {
    const bytes = bytesOf(bytesOfSeed(seed, 65))
    const isEnding = [0, 1, 27, 28].includes(bytes[64] ?? 255)
    const isLow =
      bytes
        .subarray(32, 64)
        .compare(Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex")) <= 0

    assert.strictEqual(Result.isSuccess(readSignature(hexOf(bytes))), isEnding && isLow)
  })

  it("is recognised as a contract wallet's", () => {
    assert.deepStrictEqual(readSignature(`${whole}00`), Result.fail("smart wallet" as const))
    assert.deepStrictEqual(readSignature(`0x${"6492".repeat(16)}`), Result.fail("smart wallet not deployed" as const))
    assert.deepStrictEqual(readSignature(whole.slice(0, -2)), Result.fail("form" as const))
  })
})
