// A fetch that pays by x402's own packages: by a payment for each call, or by a channel that is kept while this runs.
import { randomBytes } from "node:crypto"

const kept = new Map()

const paying = async ({ scheme: wanted, key, rpcUrl }) => {
  if (kept.has(wanted)) return kept.get(wanted)
  const { wrapFetchWithPayment, x402Client } = await import("@x402/fetch")
  const { toClientEvmSigner } = await import("@x402/evm")
  const { BatchSettlementEvmScheme, InMemoryClientChannelStorage } = await import("@x402/evm/batch-settlement/client")
  const { ExactEvmScheme } = await import("@x402/evm/exact/client")
  const { UptoEvmScheme } = await import("@x402/evm/upto/client")
  const { createPublicClient, http } = await import("viem")
  const { privateKeyToAccount } = await import("viem/accounts")
  const signer = toClientEvmSigner(privateKeyToAccount(key), createPublicClient({ transport: http(rpcUrl) }))
  const salt = `0x${randomBytes(32).toString("hex")}`
  const channels = new BatchSettlementEvmScheme(signer, { storage: new InMemoryClientChannelStorage(), salt })
  const client = new x402Client((_version, offers) => offers.find(({ scheme }) => scheme === wanted))
    .register("eip155:*", new ExactEvmScheme(signer))
    .register("eip155:*", new UptoEvmScheme(signer))
    .register("eip155:*", channels)
  const made = { fetch: wrapFetchWithPayment(fetch, client), channels }
  kept.set(wanted, made)
  return made
}

export const payingFetch = async (pays) => (pays === undefined ? fetch : (await paying(pays)).fetch)

/** Takes back what is left in the channel. */
export const refund = async (pays, url) => void (await (await paying(pays)).channels.refund(url))
