/** The same call as code to copy. The address and the wallet are the reader's own. */
import { shellQuoted } from "../../design/shell-quoted.ts"
import type { Snippet } from "../../design/snippet.ts"

interface Call {
  readonly model: string
  readonly prompt: string
  readonly maxTokens: number
  readonly chain: "evm" | "solana"
}

/** A way to pay, as a quote names it. */
interface Way {
  readonly scheme: string
  readonly network: string
}

interface Wallet {
  readonly networks: string
  readonly imports: string
  readonly signer: string
  /** Of each scheme that x402's client has for these networks. */
  readonly schemes: Readonly<Record<string, { readonly imports: string; readonly made: string }>>
}

const wallets: Readonly<Record<Call["chain"], Wallet>> = {
  evm: {
    networks: "eip155:*",
    imports: `import { toClientEvmSigner } from "@x402/evm"
import { createPublicClient, http } from "viem"
import { privateKeyToAccount } from "viem/accounts"`,
    signer: `const wallet = privateKeyToAccount(process.env.WALLET_KEY)
const signer = toClientEvmSigner(wallet, createPublicClient({ transport: http(process.env.RPC_URL) }))`,
    schemes: {
      exact: {
        imports: `import { ExactEvmScheme } from "@x402/evm/exact/client"`,
        made: "new ExactEvmScheme(signer)"
      },
      upto: { imports: `import { UptoEvmScheme } from "@x402/evm/upto/client"`, made: "new UptoEvmScheme(signer)" },
      "batch-settlement": {
        imports: `import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { FileClientChannelStorage } from "@x402/evm/batch-settlement/client/file-storage"`,
        made: `new BatchSettlementEvmScheme(signer, { storage: new FileClientChannelStorage({ directory: "channels" }) })`
      }
    }
  },
  solana: {
    networks: "solana:*",
    imports: `import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit"`,
    signer: `const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(process.env.WALLET_KEY))`,
    schemes: {
      exact: {
        imports: `import { ExactSvmScheme } from "@x402/svm/exact/client"`,
        made: "new ExactSvmScheme(signer, { rpcUrl: process.env.RPC_URL })"
      }
    }
  }
}

/** x402's client with a line for each scheme: those that were offered, in their order; before a quote all that it has. */
const payingFetch = (chain: Call["chain"], ways: ReadonlyArray<Way> | undefined): string => {
  const { networks, imports, signer, schemes } = wallets[chain]
  const offered = ways
    ?.filter(({ network }) => network.startsWith(networks.slice(0, -1)))
    .map(({ scheme }) => scheme)
    .filter((scheme) => scheme in schemes)
  const chosen = Object.entries(schemes)
    .filter(([scheme]) => offered === undefined || offered.includes(scheme))
    .toSorted(([one], [other]) => (offered?.indexOf(one) ?? 0) - (offered?.indexOf(other) ?? 0))
  const choice =
    chosen.length < 2
      ? "const client = new x402Client()"
      : `// Pays by the scheme that SCHEME names, else by the gateway's first offer.
const client = new x402Client((version, offers) => offers.find(({ scheme }) => scheme === process.env.SCHEME) ?? offers[0])`
  return [
    `import { wrapFetchWithPayment, x402Client } from "@x402/fetch"`,
    imports,
    ...chosen.map(([, each]) => each.imports),
    "",
    signer,
    choice,
    ...chosen.map(([, { made }]) => `  .register("${networks}", ${made})`),
    "const paying = wrapFetchWithPayment(fetch, client)",
    ""
  ].join("\n")
}

/** `ways`: those of its quote, once there is one. */
export const callSnippets = (
  { model, prompt, maxTokens, chain }: Call,
  ways?: ReadonlyArray<Way>
): ReadonlyArray<Snippet> => {
  const body = { model, max_tokens: maxTokens, messages: [{ role: "user", content: prompt }] }
  const json = JSON.stringify(body, null, 2).replaceAll("\n", "\n  ")
  const pay = payingFetch(chain, ways)
  return [
    {
      title: "curl",
      code: `# Answers 402 with the price; a client that pays is below x402.
curl -i "$GATEWAY/v1/chat/completions" \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(JSON.stringify(body))}`
    },
    {
      title: "openai",
      code: `import OpenAI from "openai"
${pay}
const openai = new OpenAI({ baseURL: process.env.GATEWAY + "/v1", apiKey: "none", fetch: paying })
const stream = await openai.chat.completions.create({ ...${json}, stream: true })
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "")`
    },
    {
      title: "anthropic",
      code: `import Anthropic from "@anthropic-ai/sdk"
${pay}
const anthropic = new Anthropic({ baseURL: process.env.GATEWAY, apiKey: "none", fetch: paying })
const stream = anthropic.messages.stream(${json})
stream.on("text", (text) => process.stdout.write(text))
await stream.finalMessage()`
    },
    {
      title: "x402",
      code: `${pay}
const answer = await paying(process.env.GATEWAY + "/v1/chat/completions", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(${json})
})
console.log(await answer.text(), answer.headers.get("payment-response"))`
    }
  ]
}
