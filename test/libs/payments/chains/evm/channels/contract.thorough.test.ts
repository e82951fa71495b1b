import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { encodeAbiParameters, getAddress, hashTypedData, keccak256 } from "viem"
import { bytesOf, type Hex, hexOf } from "../../../../../../libs/payments/chains/evm/encoding.ts"
import { domainSeparator } from "../../../../../../libs/payments/chains/evm/signature.ts"
import * as contract from "../../../../../../libs/payments/chains/evm/channels/contract.ts"

/** Bytes that look random and are the same with every run. */
const bytes = (name: string, length: number): Hex =>
  `0x${createHash("shake256", { outputLength: length }).update(name).digest("hex")}`
const address = (name: string) => getAddress(bytes(name, 20))
const amount = (name: string) => BigInt(bytes(name, 12))

const configOf = (name: string): contract.ChannelConfig => ({
  payer: address(`payer ${name}`),
  payerAuthorizer: address(`authorizer ${name}`),
  receiver: address(`receiver ${name}`),
  receiverAuthorizer: address("receiver's authorizer"),
  token: address("token"),
  withdrawDelay: 900 + name.length,
  salt: bytes(`salt ${name}`, 32)
})

/** A signature of 65 bytes, and those of contract wallets, which have any length. */
const claimOf = (name: string, signatureBytes: number): contract.VoucherClaim => ({
  config: configOf(name),
  maxClaimable: amount(`max ${name}`),
  signature: bytes(`signature ${name}`, signatureBytes),
  totalClaimed: amount(`total ${name}`)
})

const claims = [claimOf("one", 65), claimOf("two", 96), claimOf("three", 1)]
describe("the calls of the channel contract", () => {
  const signature = bytesOf(bytes("authorizer's signature", 65))
  const config = configOf("one")
  const [receiver, token] = [address("receiver"), address("token")]
  const authorization = { validAfter: 5n, validBefore: 99n, salt: bytes("salt", 32), signature: bytes("s", 65) }
  const permit = { nonce: 5n, deadline: 99n, signature: bytes("s", 65), approval: null }
  const approval = { deadline: 77n, signature: bytesOf(bytes("an approval", 65)) }
  const claim = contract.claimCall(claims, signature)
  const refund = contract.refundCall(config, 3n, 2n, signature)

  // By hashes, since a call has up to two thousand digits; made by another encoder than ours.
  it.each([
    [
      "a deposit by the token",
      contract.depositCall(config, 7n, authorization),
      "6bd0b09690f7f435dba7fd395999641d1747dbabc2fa07425d2510df00c73f37"
    ],
    [
      "a deposit by Permit2",
      contract.depositCall(config, 7n, permit),
      "cab03b1d0c38bb8604819b19e0ed39f84e661e80680aaa5b24f691546989d5d8"
    ],
    [
      "a deposit by Permit2 with an approval",
      contract.depositCall(config, 7n, { ...permit, approval }),
      "36f2f59ee7c96ee021bfdfa680ce3bad3c521943ebecc42acf646ce4d439c0b7"
    ],
    ["a claim", claim, "f02dc60150f60b8ece48b910191aaeb2e5d9cb2fcbc55d89295f46fe6ba093ce"],
    ["a refund", refund, "fae5c9cde5ec43454995930f0a2da07f59430af1d65b97cddf8c53c69c8b2a65"],
    [
      "both in one",
      contract.multicallOf([claim, refund]),
      "c3dc50ef4cdc8f80a401138f863a41f8c1cf5511dfd288e823dad8aa55ddede4"
    ],
    [
      "a sweep",
      contract.settleCall(receiver, token),
      "94e60919cc3d1d202307ac36640f27465e01d85cc65697145a6bc32848347adb"
    ],
    [
      "a receiver's totals",
      contract.receiverQuestion(receiver, token),
      "c27598e1d61f7d7f3fa99445a3112dda68463bc198d58ca78f23c8c02a327370"
    ]
  ])("are encoded as the contract reads them: %s", (_what, call, expected) => {
    assert.strictEqual(keccak256(hexOf(call)), `0x${expected}`)
  })

  it("take addresses in any case", () => {
    const inOther = (text: string) => text.toLowerCase().replaceAll(/[a-f]/gu, (letter) => letter.toUpperCase())
    const others = {
      payer: inOther(config.payer),
      receiver: inOther(config.receiver),
      token: config.token.toLowerCase()
    }

    assert.deepStrictEqual(
      contract.depositCall({ ...config, ...others }, 7n, permit),
      contract.depositCall(config, 7n, permit)
    )
  })

  it("ask for a channel's three parts", () => {
    const id = bytes("id", 32)
    assert.deepStrictEqual(
      contract.channelQuestions(id).map(hexOf),
      ["0x7a7ebd7b", "0xb7f06ebe", "0xf0dc792e"].map((selector) => `${selector}${id.slice(2)}`)
    )
  })

  it("pay into the channel alone that a deposit's authorization is for", () => {
    const [id, salt] = [bytes("id", 32), bytes("salt", 32)]
    const expected = keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }], [id, BigInt(salt)]))
    assert.strictEqual(contract.depositNonce(id, salt), expected)
  })
})

describe("what is signed for the channel contract", () => {
  const separator = domainSeparator(contract.channelsDomain(84_532n))
  const domain = {
    name: "x402 Batch Settlement",
    version: "1",
    chainId: 84_532,
    verifyingContract: contract.channelsAddress
  } as const
  const id = bytes("id", 32)
  const number = (name: string, type = "uint128") => ({ name, type })
  const addresses = ["payer", "payerAuthorizer", "receiver", "receiverAuthorizer", "token"]
  const configType = [
    ...addresses.map((name) => number(name, "address")),
    number("withdrawDelay", "uint40"),
    number("salt", "bytes32")
  ]
  const digest = (primaryType: string, types: Record<string, ReadonlyArray<object>>, message: object) =>
    hashTypedData({ domain, types, primaryType, message } as never)

  it("has the digests that the wallet library makes of it", () => {
    const config = configOf("one")
    assert.strictEqual(
      contract.channelIdOf(separator, config),
      digest("ChannelConfig", { ChannelConfig: configType }, config)
    )
    const voucher = { Voucher: [number("channelId", "bytes32"), number("maxClaimableAmount")] }
    assert.strictEqual(
      hexOf(contract.voucherDigest(separator, id, 12n)),
      digest("Voucher", voucher, { channelId: id, maxClaimableAmount: 12n })
    )
    const refund = { Refund: [number("channelId", "bytes32"), number("nonce", "uint256"), number("amount")] }
    assert.strictEqual(
      keccak256(contract.refundMessage(separator, id, 4n, 12n)),
      digest("Refund", refund, { channelId: id, nonce: 4n, amount: 12n })
    )
    const entry = [number("channelId", "bytes32"), number("maxClaimableAmount"), number("totalClaimed")]
    const batch = { ClaimBatch: [number("claims", "ClaimEntry[]")], ClaimEntry: entry }
    const entries = claims.map(({ config, maxClaimable, totalClaimed }) => ({
      channelId: contract.channelIdOf(separator, config),
      maxClaimableAmount: maxClaimable,
      totalClaimed
    }))
    assert.strictEqual(
      keccak256(contract.claimBatchMessage(separator, claims)),
      digest("ClaimBatch", batch, { claims: entries })
    )
  })
})

describe("a channel's state in the contract's answers", () => {
  const words = (...values: ReadonlyArray<bigint>) =>
    Buffer.from(values.map((value) => value.toString(16).padStart(64, "0")).join(""), "hex")

  it("is read as a whole", () => {
    assert.deepStrictEqual(contract.channelStateIn([words(500n, 20n), words(30n, 1_700_000_000n), words(2n)]), {
      balance: 500n,
      totalClaimed: 20n,
      withdrawAmount: 30n,
      withdrawRequestedAt: 1_700_000_000,
      refundNonce: 2n
    })
  })

  it("is not guessed when one of the answers is missing or another", () => {
    assert.isUndefined(contract.channelStateIn([words(1n, 2n), words(3n, 4n)]))
    assert.isUndefined(contract.channelStateIn([words(1n), words(3n, 4n), words(5n)]))
    assert.isUndefined(contract.channelStateIn([]))
  })
})
