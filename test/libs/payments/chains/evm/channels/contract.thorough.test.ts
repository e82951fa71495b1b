import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { type Abi, encodeAbiParameters, encodeFunctionData, getAddress, hashTypedData, keccak256, parseAbi } from "viem"
import { bytesOf, type Hex, hexOf } from "../../../../../../libs/payments/chains/evm/encoding.ts"
import { domainSeparator } from "../../../../../../libs/payments/chains/evm/signature.ts"
import * as contract from "../../../../../../libs/payments/chains/evm/channels/contract.ts"

const abi = parseAbi([
  "struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }",
  "struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }",
  "struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }",
  "function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)",
  "function claimWithSignature(VoucherClaim[] voucherClaims, bytes authorizerSignature)",
  "function refundWithSignature(ChannelConfig config, uint128 amount, uint256 nonce, bytes signature)",
  "function multicall(bytes[] data)",
  "function settle(address receiver, address token)",
  "function channels(bytes32 id)",
  "function pendingWithdrawals(bytes32 id)",
  "function refundNonce(bytes32 id)",
  "function receivers(address receiver, address token)"
]) as Abi

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
const claimArguments = claims.map(({ config, maxClaimable, signature, totalClaimed }) => ({
  voucher: { channel: config, maxClaimableAmount: maxClaimable },
  signature,
  totalClaimed
}))

const call = (functionName: string, args: ReadonlyArray<unknown>) => encodeFunctionData({ abi, functionName, args })

describe("the calls of the channel contract", () => {
  const signature = bytes("authorizer's signature", 65)
  const config = configOf("one")

  it("are encoded as the wallet library encodes them", () => {
    const authorization = { validAfter: 5n, validBefore: 99n, salt: bytes("salt", 32), signature: bytes("s", 65) }
    const collectorData = encodeAbiParameters(
      [{ type: "uint256" }, { type: "uint256" }, { type: "uint256" }, { type: "bytes" }],
      [5n, 99n, BigInt(authorization.salt), authorization.signature]
    )
    const collector = contract.depositCollectorAddress
    assert.strictEqual(
      hexOf(contract.depositCall(config, 7n, authorization)),
      call("deposit", [config, 7n, collector, collectorData])
    )
    const claim = contract.claimCall(claims, bytesOf(signature))
    assert.strictEqual(hexOf(claim), call("claimWithSignature", [claimArguments, signature]))
    const refund = contract.refundCall(config, 3n, 2n, bytesOf(signature))
    assert.strictEqual(hexOf(refund), call("refundWithSignature", [config, 3n, 2n, signature]))
    assert.strictEqual(hexOf(contract.multicallOf([claim, refund])), call("multicall", [[hexOf(claim), hexOf(refund)]]))
    const [receiver, token] = [address("receiver"), address("token")]
    assert.strictEqual(hexOf(contract.settleCall(receiver, token)), call("settle", [receiver, token]))
    assert.strictEqual(hexOf(contract.receiverQuestion(receiver, token)), call("receivers", [receiver, token]))
    const id = bytes("id", 32)
    assert.deepStrictEqual(
      contract.channelQuestions(id).map(hexOf),
      ["channels", "pendingWithdrawals", "refundNonce"].map((name) => call(name, [id]))
    )
  })

  it.each([null, { deadline: 77n, signature: bytesOf(bytes("an approval", 65)) }])(
    "are encoded so for deposits by Permit2, with the approval %o",
    (approval) => {
      const word = { type: "uint256" } as const
      const signed = approval === null ? "0x" : hexOf(approval.signature)
      const last = Number(`0x${signed.slice(-2)}`)
      const approving =
        approval === null
          ? "0x"
          : encodeAbiParameters(
              [word, word, { type: "uint8" }, { type: "bytes32" }, { type: "bytes32" }],
              [
                7n,
                approval.deadline,
                last < 27 ? last + 27 : last,
                `0x${signed.slice(2, 66)}`,
                `0x${signed.slice(66, 130)}`
              ]
            )
      const permit = { nonce: 5n, deadline: 99n, signature: bytes("s", 65), approval }
      const collectorData = encodeAbiParameters(
        [word, word, { type: "bytes" }, { type: "bytes" }],
        [5n, 99n, permit.signature, approving]
      )
      assert.strictEqual(
        hexOf(contract.depositCall(config, 7n, permit)),
        call("deposit", [config, 7n, contract.permit2CollectorAddress, collectorData])
      )
    }
  )

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
