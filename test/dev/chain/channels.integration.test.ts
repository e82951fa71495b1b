import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Abi, createWalletClient, http, parseAbi, publicActions } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { permit2Address } from "#dev/chain"
import { channelsAddress } from "#payments"
import { type EvmFixture, startEvmFixture } from "../../../dev/fixtures/evm/fixture.ts"
import { asset, newPayer, payTo } from "../../../dev/fixtures/evm/payments.ts"
import { type ReferenceChannels, referenceChannels } from "../../../dev/fixtures/evm/reference-channels.ts"
import { approveCall } from "../../../dev/fixtures/evm/token-calls.ts"

const configText =
  "struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }"
const abi = parseAbi([
  configText,
  "struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }",
  "struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }",
  "function claim(VoucherClaim[] claims)",
  "function initiateWithdraw(ChannelConfig config, uint128 amount)",
  "function finalizeWithdraw(ChannelConfig config)",
  "function refund(ChannelConfig config, uint128 amount)",
  "function channels(bytes32) view returns (uint128 balance, uint128 totalClaimed)",
  "function pendingWithdrawals(bytes32) view returns (uint128 amount, uint40 initiatedAt)",
  "function refundNonce(bytes32) view returns (uint256)",
  "function receivers(address, address) view returns (uint128 totalClaimed, uint128 totalSettled)",
  "function balanceOf(address) view returns (uint256)",
  "error ClaimExceedsCeiling()",
  "error ClaimExceedsBalance()",
  "error InvalidSignature()",
  "error WithdrawDelayNotElapsed()",
  "error WithdrawAmountExceedsAvailable()",
  "error NotAuthorizedToClaim()",
  "error NotAuthorizedToRefund()",
  "error InvalidChannel()"
]) as Abi

interface ChannelPayload {
  readonly channelConfig: Readonly<Record<string, unknown>> & { readonly payer: string }
  readonly voucher: {
    readonly channelId: `0x${string}`
    readonly maxClaimableAmount: string
    readonly signature: string
  }
}

/** The unmodified client and facilitator of the protocol's own package judge the contract that stands in for theirs. */
describe("the channel contract of the local chain, to the protocol's own client and facilitator", () => {
  let fixture: EvmFixture
  let reference: ReferenceChannels

  beforeAll(async () => {
    // Only the blocks of the transactions: the chain's time stands still, or moves as a test says.
    fixture = await startEvmFixture({ blockTimeMs: 3_600_000, settlerCount: 3 })
    reference = referenceChannels(fixture.chain)
  })
  afterAll(() => fixture.end())

  const walletOf = (account: PrivateKeyAccount) =>
    createWalletClient({
      account,
      chain: baseSepolia,
      transport: http(fixture.chain.rpcUrl, { retryCount: 0 }),
      pollingInterval: 10,
      cacheTime: 0
    }).extend(publicActions)

  const read = (functionName: string, args: ReadonlyArray<unknown>, address: string = channelsAddress) =>
    walletOf(newPayer()).readContract({ address: address as `0x${string}`, abi, functionName, args })

  /** Sends as that account; the name of the contract's refusal, or "done". */
  const send = async (account: PrivateKeyAccount, functionName: string, args: ReadonlyArray<unknown>) => {
    const wallet = walletOf(account)
    await fixture.run(fixture.chain.rpc("anvil_setBalance", [account.address, "0xde0b6b3a7640000"]))
    try {
      const call = { address: channelsAddress, abi, functionName, args } as const
      await wallet.simulateContract(call)
      const hash = await wallet.writeContract(call)
      const { status } = await wallet.waitForTransactionReceipt({ hash })
      return status === "success" ? "done" : status
    } catch (error) {
      return /Error: (\w+)\(\)/u.exec(String(error))?.[1] ?? String(error)
    }
  }

  const stateOf = async (channelId: string) => {
    const [balance, totalClaimed] = (await read("channels", [channelId])) as [bigint, bigint]
    return { balance, totalClaimed }
  }

  /** A new payer's channel with a deposit of 5,000 and a voucher over 1,000, and the payer's client. */
  const opened = async () => {
    const payer = newPayer()
    await fixture.run(fixture.chain.fund(payer.address, 20_000n))
    const client = reference.client(payer, { salt: `0x${randomBytes(32).toString("hex")}` })
    const payment = await reference.pay(client)
    const payload = payment.payload as unknown as ChannelPayload
    return { payer, client, payment, payload, channelId: payload.voucher.channelId }
  }

  const deposited = async () => {
    const channel = await opened()
    const settled = await reference.settle(channel.payment)
    assert.isTrue(settled.success, JSON.stringify(settled))
    return channel
  }

  it("takes deposits by Permit2 of payers that have approved it, and of those that sign that along", async () => {
    const { requirements } = reference
    const offered = { ...requirements, extra: { ...requirements.extra, assetTransferMethod: "permit2" } }
    const before = newPayer()
    const along = newPayer()
    for (const payer of [before, along]) await fixture.run(fixture.chain.fund(payer.address, 20_000n))
    await fixture.run(fixture.chain.rpc("anvil_impersonateAccount", [before.address]))
    await fixture.run(fixture.chain.rpc("anvil_setBalance", [before.address, "0xde0b6b3a7640000"]))
    const approval = { from: before.address, to: asset, data: approveCall(permit2Address) }
    await fixture.run(fixture.chain.rpc("eth_sendTransactionSync", [approval]))
    for (const payer of [before, along]) {
      const payment = await reference.pay(reference.client(payer), offered)
      assert.strictEqual(payment.extensions !== undefined, payer === along)
      const settled = await reference.settle(payment, offered)
      assert.isTrue(settled.success, JSON.stringify(settled))
      const { voucher } = payment.payload as unknown as ChannelPayload
      assert.deepStrictEqual(await stateOf(voucher.channelId), { balance: 5_000n, totalClaimed: 0n })
      const again = await reference.settle(payment, offered)
      assert.isFalse(again.success)
    }
  })

  const claimRow = ({ payload }: { readonly payload: ChannelPayload }, totalClaimed: string) => ({
    voucher: { channel: payload.channelConfig, maxClaimableAmount: payload.voucher.maxClaimableAmount },
    signature: payload.voucher.signature,
    totalClaimed
  })

  it("takes a deposit by a signed authorization, once", async () => {
    const { payer, payment, channelId } = await opened()

    assert.strictEqual(await reference.verdict(payment), "valid")
    const settled = await reference.settle(payment)

    assert.isTrue(settled.success, JSON.stringify(settled))
    assert.deepStrictEqual(await stateOf(channelId), { balance: 5_000n, totalClaimed: 0n })
    assert.strictEqual(await read("balanceOf", [payer.address], asset), 15_000n)
    assert.deepStrictEqual(settled.extra?.["channelState"], {
      channelId,
      balance: "5000",
      totalClaimed: "0",
      withdrawRequestedAt: 0,
      refundNonce: "0"
    })
    assert.strictEqual(await reference.verdict(payment), "invalid_batch_settlement_evm_deposit_simulation_failed")
  })

  it("refuses a deposit that was signed for another channel", async () => {
    const { payment } = await opened()
    const other = await opened()
    const moved = reference.paymentOf({
      ...payment.payload,
      deposit: (other.payment.payload as { readonly deposit: unknown }).deposit
    })

    assert.strictEqual(await reference.verdict(moved), "invalid_batch_settlement_evm_receive_authorization_signature")
  })

  it("has vouchers judged by what was deposited and what was claimed", async () => {
    const channel = await deposited()
    const { channelConfig, voucher } = channel.payload
    const signed = async (amount: string) => {
      const { signature } = channel.payload.voucher
      const payload = { type: "voucher", channelConfig, voucher: { ...voucher, maxClaimableAmount: amount, signature } }
      return reference.paymentOf(payload)
    }

    assert.strictEqual(await reference.verdict(await signed("1000")), "valid")
    assert.strictEqual(await reference.verdict(await signed("1001")), "invalid_batch_settlement_evm_voucher_signature")
    await reference.settle(reference.paymentOf({ type: "claim", claims: [claimRow(channel, "1000")] }))
    assert.strictEqual(
      await reference.verdict(await signed("1000")),
      "invalid_batch_settlement_evm_cumulative_below_claimed"
    )
  })

  it("takes the claims of many channels in one transaction, twice as well as once, and sweeps them in one transfer", async () => {
    const channels = [await deposited(), await deposited(), await deposited()]
    const before = (await read("balanceOf", [payTo], asset)) as bigint
    const [claimedBefore] = (await read("receivers", [payTo, asset])) as [bigint, bigint]
    const claim = reference.paymentOf({ type: "claim", claims: channels.map((channel) => claimRow(channel, "700")) })

    const first = await reference.settle(claim)
    const second = await reference.settle(claim)
    const swept = await reference.settle(reference.paymentOf({ type: "settle", receiver: payTo, token: asset }))

    assert.isTrue(first.success, JSON.stringify(first))
    assert.isTrue(second.success, JSON.stringify(second))
    for (const { channelId } of channels) {
      assert.deepStrictEqual(await stateOf(channelId), { balance: 5_000n, totalClaimed: 700n })
    }
    const [claimed, settled] = (await read("receivers", [payTo, asset])) as [bigint, bigint]
    assert.strictEqual(claimed - claimedBefore, 2_100n)
    assert.strictEqual(settled, claimed)
    assert.strictEqual(((await read("balanceOf", [payTo], asset)) as bigint) - before, BigInt(swept.amount ?? "0"))
    const again = await reference.settle(reference.paymentOf({ type: "settle", receiver: payTo, token: asset }))
    assert.strictEqual(again.errorReason, "invalid_batch_settlement_evm_nothing_to_settle")
  })

  it("gives a part and then all of the rest back on the receiver's word, and each word counts once", async () => {
    const channel = await deposited()
    const { payer, payload, channelId } = channel
    const refund = (amount: string, refundNonce: string, claims: ReadonlyArray<unknown>) =>
      reference.paymentOf({ ...payload, type: "refund", amount, refundNonce, claims })

    const part = await reference.settle(refund("1500", "0", [claimRow(channel, "1000")]))
    const twice = await reference.settle(refund("1500", "0", []))
    const rest = await reference.settle(refund("999999", "1", []))

    assert.strictEqual(part.amount, "1500", JSON.stringify(part))
    assert.strictEqual(twice.errorReason, "invalid_batch_settlement_evm_refund_simulation_failed")
    assert.strictEqual(rest.amount, "2500", JSON.stringify(rest))
    assert.deepStrictEqual(await stateOf(channelId), { balance: 1_000n, totalClaimed: 1_000n })
    assert.strictEqual(await read("balanceOf", [payer.address], asset), 19_000n)
  })

  it("claims no more than was signed, no more than is there, and for the receiver's side alone", async () => {
    const channel = await deposited()
    const authorizer = privateKeyToAccount(fixture.chain.settlers[2]?.privateKey ?? "0x")
    const rows = (totalClaimed: string) => [{ ...claimRow(channel, totalClaimed) }]

    assert.strictEqual(await send(authorizer, "claim", [rows("500")]), "NotAuthorizedToClaim")
    assert.strictEqual(await send(authorizer, "refund", [channel.payload.channelConfig, 1n]), "NotAuthorizedToRefund")
    assert.strictEqual(await send(reference.authorizer, "claim", [rows("1001")]), "ClaimExceedsCeiling")
    const forged = [{ ...rows("500")[0], signature: `0x${"11".repeat(64)}1b` }]
    assert.strictEqual(await send(reference.authorizer, "claim", [forged]), "InvalidSignature")
    assert.strictEqual(await send(reference.authorizer, "claim", [rows("500")]), "done")
  })

  it("lets the client find its channel on the chain when it has lost all it knew", async () => {
    const payer = newPayer()
    await fixture.run(fixture.chain.fund(payer.address, 20_000n))
    const first = await reference.pay(reference.client(payer))
    await reference.settle(first)

    const again = await reference.pay(reference.client(payer))

    assert.strictEqual((again.payload as { readonly type?: string }).type, "voucher")
    assert.strictEqual(await reference.verdict(again), "valid")
  })

  // The last one: from here on the chain is ahead of the clocks by which clients sign.
  it("lets the payer withdraw after the delay what was not claimed meanwhile", async () => {
    const channel = await deposited()
    const { payer, payload, channelId } = channel

    assert.strictEqual(
      await send(payer, "initiateWithdraw", [payload.channelConfig, 5_001n]),
      "WithdrawAmountExceedsAvailable"
    )
    assert.strictEqual(await send(newPayer(), "initiateWithdraw", [payload.channelConfig, 5_000n]), "InvalidChannel")
    assert.strictEqual(await send(payer, "initiateWithdraw", [payload.channelConfig, 5_000n]), "done")
    assert.strictEqual(await send(payer, "finalizeWithdraw", [payload.channelConfig]), "WithdrawDelayNotElapsed")
    const claimed = await reference.settle(reference.paymentOf({ type: "claim", claims: [claimRow(channel, "900")] }))
    await fixture.run(fixture.chain.advance(901))
    assert.strictEqual(await send(payer, "finalizeWithdraw", [payload.channelConfig]), "done")

    assert.isTrue(claimed.success, JSON.stringify(claimed))
    assert.deepStrictEqual(await stateOf(channelId), { balance: 900n, totalClaimed: 900n })
    assert.strictEqual(await read("balanceOf", [payer.address], asset), 19_100n)
  })
})
