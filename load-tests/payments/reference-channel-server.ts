/**
 * What one builds from the protocol's own parts to be paid by channel: express, its payment middleware, its facilitator
 * in the same process, its storage of channels in files or in Redis, and a handler that asks the provider.
 */
import type { AddressInfo } from "node:net"
import { x402Facilitator } from "@x402/core/facilitator"
import { BatchSettlementEvmScheme as Facilitator } from "@x402/evm/batch-settlement/facilitator"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/server"
import { FileChannelStorage } from "@x402/evm/batch-settlement/server/file-storage"
import { RedisChannelStorage, type RedisChannelStorageClient } from "@x402/evm/batch-settlement/server/redis-storage"
import { paymentMiddleware, x402ResourceServer } from "@x402/express"
import express from "express"
import { Redis } from "ioredis"
import { Agent, setGlobalDispatcher } from "undici"
import { generatePrivateKey, nonceManager, privateKeyToAccount } from "viem/accounts"
import { facilitatorSigner } from "#dev/fixtures/evm/reference-facilitator"

const [chainUrl = "", upstreamUrl = "", settlerKey = "0x", payTo = "0x", amount = "0", asset = "0x", place = ""] =
  process.argv.slice(2)
setGlobalDispatcher(new Agent({ connections: 128 }))
const network = "eip155:84532"

/** What the package's storage asks of a client of Redis, by the words of another client. */
const redisClient = (redis: Redis): RedisChannelStorageClient => ({
  get: (key) => redis.get(key),
  set: (key, value, { NX, PX } = {}) =>
    redis.call(
      "SET",
      key,
      value,
      ...(NX === undefined ? [] : ["NX"]),
      ...(PX === undefined ? [] : ["PX", PX])
    ) as Promise<string | null>,
  del: (key) => redis.del(key),
  eval: (script, { keys, arguments: given }) => redis.eval(script, keys.length, ...keys, ...given),
  scanIterator: ({ MATCH = "*", COUNT = 100 }) => redis.scanStream({ match: MATCH, count: COUNT })
})

/** `place`: a folder, or the address of a Redis. */
const storage = place.startsWith("redis:")
  ? new RedisChannelStorage({ client: redisClient(new Redis(place)) })
  : new FileChannelStorage({ directory: place })

const account = privateKeyToAccount(settlerKey as `0x${string}`, { nonceManager })
const authorizer = privateKeyToAccount(generatePrivateKey())
const facilitator = new x402Facilitator().register(network, new Facilitator(facilitatorSigner(chainUrl, account)))
const scheme = new BatchSettlementEvmScheme(payTo as `0x${string}`, {
  receiverAuthorizerSigner: authorizer as never,
  withdrawDelay: 3_600,
  storage
})
const resources = new x402ResourceServer({
  verify: (...asked) => facilitator.verify(...asked),
  settle: (...asked) => facilitator.settle(...asked),
  getSupported: () => Promise.resolve(facilitator.getSupported() as never)
}).register(network, scheme)

const price = { amount, asset, extra: { name: "USDC", version: "2" } }
const accepts = { scheme: "batch-settlement", network, payTo, price, maxTimeoutSeconds: 600 } as const
const app = express()
app.use(express.json())
app.use(paymentMiddleware({ "POST /v1/chat/completions": { accepts, description: "a model call" } }, resources))
app.post("/v1/chat/completions", (request, response) => {
  void fetch(`${upstreamUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...request.body, model: "echo-1" })
  })
    .then(async (answer) => response.status(answer.status).json(await answer.json()))
    .catch(() => response.status(502).end())
})
const server = app.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on("message", () => undefined)
