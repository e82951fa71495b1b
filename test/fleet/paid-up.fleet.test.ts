/** The embedded default for a caller who knows only `--ready-json`: unmodified clients pay on both chains. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { LLMClient, SolanaLLMClient } from "@blockrun/llm"
import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { payingFetch } from "../support/payment-client.ts"
import { type Home, newHome, type RunningFleet, startFleet, type Ready } from "../../dev/fixtures/starling.ts"
import { until } from "../../dev/fixtures/eventually.ts"

let home: Home
let fleet: RunningFleet
let ready: Ready

const begin = async () => {
  fleet = await startFleet(home)
  ready = fleet.ready
}

beforeAll(async () => {
  home = newHome()
  await begin()
})

afterAll(async () => {
  await fleet.stop("SIGTERM")
  home.remove()
})

/** Clients take http only from localhost. */
const local = (path: string) => `${ready.gateway.replace("127.0.0.1", "localhost")}${path}`
const messages = [{ role: "user" as const, content: "one two three" }]

const pidWith = (text: string) => {
  const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,args="], { encoding: "utf8" }).split("\n")
  return Number(
    lines
      .find((line) => line.includes(text) && !line.includes("ps -A"))
      ?.trim()
      .split(" ")[0] ?? 0
  )
}

const metric = async (name: string) => {
  const text = await (await fetch(`${ready.metrics}/metrics`)).text()
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
}

describe("./starling up", () => {
  it("prints the addresses of the gateway and the chains, with funded payers", () => {
    assert.match(ready.gateway, /^http:\/\/127\.0\.0\.1:\d+$/u)
    assert.strictEqual(ready.chains.evm.chainId, 84_532)
    assert.strictEqual(ready.chains.evm.asset, "0x036CbD53842c5426634e7929541eC2318f3dCF7e")
    assert.match(ready.chains.evm.payer.privateKey, /^0x[0-9a-f]{64}$/u)
    assert.match(ready.chains.solana.payer.secretKey, /^[1-9A-HJ-NP-Za-km-z]{80,90}$/u)
  })

  it("is paid by the unmodified clients, streamed and not, on both chains", async () => {
    const fetch = payingFetch(ready.chains.evm.payer.privateKey)
    const openai = new OpenAI({ baseURL: local("/api/v1"), apiKey: "none", maxRetries: 0, fetch })
    const whole = await openai.chat.completions.create({ model: "demo/nostream", messages })
    assert.strictEqual(whole.choices[0]?.message.content, "one two three")
    const stream = await openai.chat.completions.create({ model: "demo/echo", messages, stream: true })
    let text = ""
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
    assert.strictEqual(text, "one two three")

    const { data } = await openai.embeddings.create({ model: "demo/embedding", input: ["one", "two", "one"] })
    assert.deepStrictEqual(data[0]?.embedding, data[2]?.embedding)
    assert.notDeepEqual(data[0]?.embedding, data[1]?.embedding)

    const anthropic = new Anthropic({ baseURL: local("/api"), apiKey: "none", maxRetries: 0, fetch })
    const message = await anthropic.messages.create({ model: "demo/echo", max_tokens: 64, messages })
    assert.deepInclude(message.content[0], { type: "text", text: "one two three" })

    const { privateKey } = ready.chains.evm.payer
    assert.strictEqual(await new LLMClient({ privateKey, apiUrl: local("/api") }).chat("demo/echo", "hello"), "hello")
    const { rpc, payer } = ready.chains.solana
    const solana = new SolanaLLMClient({
      privateKey: payer.secretKey,
      apiUrl: local("/solana/api"),
      rpcUrl: rpc
    })
    assert.strictEqual(await solana.chat("demo/echo", "hello from Solana"), "hello from Solana")
    await until(() => metric("payment_settlement_seconds_count"), { is: 6 })
  })

  it("sells models that refuse what real providers refuse, in either vendor's dialect", async () => {
    const fetch = payingFetch(ready.chains.evm.payer.privateKey)
    const openai = new OpenAI({ baseURL: local("/api/v1"), apiKey: "none", maxRetries: 0, fetch })
    const anthropic = new Anthropic({ baseURL: local("/api"), apiKey: "none", maxRetries: 0, fetch })
    for (const model of ["demo/strict", "demo/strict-claude", "demo/reasoner"]) {
      const whole = await openai.chat.completions.create({ model, messages })
      assert.strictEqual(whole.choices[0]?.message.content, "one two three")
      const message = await anthropic.messages.create({ model, max_tokens: 64, messages })
      assert.deepInclude(message.content.at(-1), { type: "text", text: "one two three" })
    }
  })

  it("continues when a chain dies, and reports that payments cannot be verified", async () => {
    const evm = pidWith(`--port ${new URL(ready.chains.evm.rpc).port} `)
    const solana = pidWith(readFileSync(join(home.folder, "chain-seed"), "utf8"))
    assert.isTrue(evm > 0 && solana > 0)
    process.kill(evm, "SIGKILL")
    process.kill(solana, "SIGKILL")
    const pay = payingFetch(ready.chains.evm.payer.privateKey)
    const body = JSON.stringify({ model: "demo/echo", messages })
    const headers = { "content-type": "application/json" }
    const refused = await pay(local("/api/v1/chat/completions"), { method: "POST", headers, body })
    assert.strictEqual(refused.status, 503)
    assert.include(await refused.text(), "PAYMENT_VERIFICATION_UNAVAILABLE")
    const free = await fetch(local("/api/v1/chat/completions"), {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "demo/free", messages })
    })
    assert.strictEqual(free.status, 200)
    assert.strictEqual((await fetch(`${ready.metrics}/livez`)).status, 200)
  })

  it("keeps its payers over a restart, and they can pay again", async () => {
    const before = ready.chains
    assert.strictEqual(await fleet.stop("SIGTERM"), 0)
    await begin()
    assert.strictEqual(ready.chains.evm.payer.privateKey, before.evm.payer.privateKey)
    assert.strictEqual(ready.chains.solana.payer.secretKey, before.solana.payer.secretKey)
    const { privateKey } = ready.chains.evm.payer
    assert.strictEqual(await new LLMClient({ privateKey, apiUrl: local("/api") }).chat("demo/echo", "again"), "again")
  })
})
