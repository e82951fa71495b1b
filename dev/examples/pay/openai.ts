/** OpenAI's client, paying by x402: `node openai.ts "Why is the sky blue?"`. */
import { toClientEvmSigner } from "@x402/evm"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { FileClientChannelStorage } from "@x402/evm/batch-settlement/client/file-storage"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { UptoEvmScheme } from "@x402/evm/upto/client"
import { type PaymentRequirements, wrapFetchWithPayment, x402Client } from "@x402/fetch"
import OpenAI from "openai"
import { createPublicClient, http } from "viem"
import { privateKeyToAccount } from "viem/accounts"

const wallet = privateKeyToAccount(process.env["WALLET_KEY"] as `0x${string}`)
const signer = toClientEvmSigner(wallet, createPublicClient({ transport: http(process.env["RPC_URL"]) }))
const storage = new FileClientChannelStorage({ directory: "channels" })
// The gateway's first offer, or that of a scheme: "exact", "upto" or "batch-settlement".
const client = new x402Client((_version, offers) => offers.find(isWanted) ?? (offers[0] as PaymentRequirements))
  .register("eip155:*", new ExactEvmScheme(signer))
  .register("eip155:*", new UptoEvmScheme(signer))
  .register("eip155:*", new BatchSettlementEvmScheme(signer, { storage }))
const isWanted = ({ scheme }: PaymentRequirements) => scheme === process.env["SCHEME"]

const openai = new OpenAI({
  baseURL: `${process.env["GATEWAY"]}/v1`,
  apiKey: "none",
  fetch: wrapFetchWithPayment(fetch, client)
})
const stream = await openai.chat.completions.create({
  model: process.env["MODEL"] ?? "demo/echo",
  max_tokens: 256,
  messages: [{ role: "user", content: process.argv[2] ?? "Hello." }],
  stream: true
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")
