/** The same call as code to copy. The address and the wallet are the reader's own. */
import { shellQuoted } from "../../design/shell-quoted.ts"
import type { Snippet } from "../../design/snippet.ts"

interface Call {
  readonly model: string
  readonly prompt: string
  readonly maxTokens: number
}

export const callSnippets = ({ model, prompt, maxTokens }: Call): ReadonlyArray<Snippet> => {
  const body = { model, max_tokens: maxTokens, messages: [{ role: "user", content: prompt }] }
  const json = JSON.stringify(body, null, 2).replaceAll("\n", "\n  ")
  const pay = `import { wrapFetchWithPayment } from "@x402/fetch"
import { x402Client } from "@x402/core/client"
import { registerExactEvmScheme } from "@x402/evm/exact/client"
import { privateKeyToAccount } from "viem/accounts"

const client = new x402Client()
registerExactEvmScheme(client, { signer: privateKeyToAccount(process.env.WALLET_KEY) })
const paying = wrapFetchWithPayment(fetch, client)
`
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
console.log(await answer.json(), answer.headers.get("payment-response"))`
    }
  ]
}
