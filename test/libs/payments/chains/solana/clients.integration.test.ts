import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { SolanaLLMClient } from "@blockrun/llm"
import { assert, describe, it } from "@effect/vitest"
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit"
import { ExactSvmScheme as StockClient } from "@x402/svm/exact/client"
import { Clock, Effect, Schema } from "effect"
import { PaymentPayload, type PaymentRequirements } from "#payments/contract"
import type { LocalSolana } from "../../../../../dev/chain/solana/LocalSolanaChain.ts"
import type { SvmScheme } from "../../../../../libs/payments/chains/solana/exact-svm.ts"
import { egress, leaseOf, startScene } from "./fixture.ts"
import { amount } from "./vectors.ts"

const payThrough = Effect.fnUntraced(function* (
  chain: LocalSolana,
  scheme: SvmScheme,
  payload: PaymentPayload,
  requirements: PaymentRequirements
) {
  const checked = yield* Effect.fromResult(scheme.check(payload, requirements, yield* Clock.currentTimeMillis))
  yield* scheme.simulate(checked)
  return yield* scheme.broadcast(yield* scheme.prepare(checked, leaseOf(chain)), checked)
})

/** Asks for the payment, takes it, answers; the least that a client of the gateway needs. */
const startGateway = (requirements: PaymentRequirements, paid: (payload: PaymentPayload) => Promise<string>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: Effect.Effect<void> }>((resume) => {
      const quote = { x402Version: 2, resource: { url: "http://localhost/x" }, accepts: [requirements] }
      const answer = async (request: IncomingMessage) => {
        const header = request.headers["payment-signature"]
        if (typeof header !== "string") return undefined
        const text = Buffer.from(header, "base64").toString("utf8")
        return paid(Schema.decodeSync(Schema.fromJsonString(PaymentPayload))(text))
      }
      const server = createServer((request, response) => {
        request.resume()
        void answer(request).then((content) => {
          if (content === undefined) {
            const header = Buffer.from(JSON.stringify(quote)).toString("base64")
            return response.writeHead(402, { "PAYMENT-REQUIRED": header }).end("{}")
          }
          const message = { role: "assistant", content }
          const body = { id: "1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message }] }
          return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body))
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const close = Effect.callback<void>((done) => {
          server.close(() => done(Effect.void))
          server.closeAllConnections()
        })
        resume(Effect.succeed({ url: `http://localhost:${(server.address() as AddressInfo).port}/api`, close }))
      })
    }),
    ({ close }) => close
  )

describe("transactions of real clients", () => {
  it.live("@x402/svm: three equal payments, each with a memo of its own, are three payments", () =>
    Effect.gen(function* () {
      const { chain, make, scheme } = yield* startScene()
      const secret = Uint8Array.from(getBase58Encoder().encode(chain.payer.secretKey))
      const signer = yield* Effect.promise(() => createKeyPairSignerFromBytes(secret))
      const client = new StockClient(signer as never, { rpcUrl: chain.rpcUrl })
      const requirements = make.requirements()
      for (let payment = 0; payment < 3; payment += 1) {
        const { payload } = yield* Effect.promise(() => client.createPaymentPayload(2, requirements as never))
        yield* payThrough(chain, scheme, { x402Version: 2, accepted: requirements, payload }, requirements)
      }

      assert.strictEqual(yield* chain.balance(chain.payTo.address), 3n * amount)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.live("@x402/svm: pays with the memo of the quote", () =>
    Effect.gen(function* () {
      const { chain, make, scheme } = yield* startScene()
      const secret = Uint8Array.from(getBase58Encoder().encode(chain.payer.secretKey))
      const signer = yield* Effect.promise(() => createKeyPairSignerFromBytes(secret))
      const client = new StockClient(signer as never, { rpcUrl: chain.rpcUrl })
      const requirements = make.requirements({ memo: "order 7" })
      const { payload } = yield* Effect.promise(() => client.createPaymentPayload(2, requirements as never))
      yield* payThrough(chain, scheme, { x402Version: 2, accepted: requirements, payload }, requirements)

      assert.strictEqual(yield* chain.balance(chain.payTo.address), amount)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )

  it.live("@blockrun/llm: a chat is answered after its 402 and its payment, and the wallet shows what is left", () =>
    Effect.gen(function* () {
      const { chain, make, scheme } = yield* startScene()
      const requirements = make.requirements()
      const context = yield* Effect.context<never>()
      const paid = (payload: PaymentPayload) =>
        Effect.runPromiseWith(context)(
          Effect.map(payThrough(chain, scheme, payload, requirements), ({ transaction }) => transaction)
        )
      const gateway = yield* startGateway(requirements, paid)
      const client = new SolanaLLMClient({
        privateKey: chain.payer.secretKey,
        apiUrl: gateway.url,
        rpcUrl: chain.rpcUrl
      })
      const before = yield* Effect.promise(() => client.getBalance())
      const answers = [
        yield* Effect.promise(() => client.chat("m", "Hello")),
        yield* Effect.promise(() => client.chat("m", "Hello"))
      ]
      const after = yield* Effect.promise(() => client.getBalance())

      assert.deepStrictEqual(answers, [...chain.bank.history.keys()])
      assert.strictEqual(yield* chain.balance(chain.payTo.address), 2n * amount)
      assert.closeTo(before - after, (2 * Number(amount)) / 1e6, 1e-6)
    }).pipe(Effect.scoped, Effect.provide(egress))
  )
})
