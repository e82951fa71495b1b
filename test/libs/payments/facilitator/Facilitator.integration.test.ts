import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { type Facilitator, openFacilitator } from "#payments"
import { testPayload, testRequirements } from "../../../support/payments.ts"

type Behaviour = (request: IncomingMessage, response: ServerResponse, body: string) => void

const json =
  (status: number, body: unknown): Behaviour =>
  (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" })
    response.end(JSON.stringify(body))
  }

/** A facilitator with given behaviour, on a port of its own. */
const facilitatorThat = (behaves: Behaviour) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (chunk: Buffer) => (body += chunk.toString()))
        request.on("end", () => behaves(request, response, body))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/v2/`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const services = ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

const asked = <A, E>(behaves: Behaviour, ask: (facilitator: Facilitator) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const { url } = yield* facilitatorThat(behaves)
    // Only one that hangs is not waited for: any other answers, however busy the machine is.
    const timeoutMs = behaves === hang ? 400 : 10_000
    const facilitator = yield* openFacilitator({ network, url, timeoutMs, connectionsMax: 4 })
    const exit = yield* Effect.exit(ask(facilitator))
    return { exit, metrics: yield* (yield* Metrics).text }
  }).pipe(Effect.provide(services))

const verify = ({ verify }: Facilitator) => verify(testPayload("one"), testRequirements)
const settle = ({ settle }: Facilitator) => settle(testPayload("one"), testRequirements)

const outcome = (exit: Exit.Exit<unknown, { readonly _tag: string }>) => {
  const error = Exit.findErrorOption(exit)
  return Option.isSome(error) ? error.value : { _tag: "accepted" }
}

const network = testRequirements.network
const paid = { success: true, transaction: "0xaa", network, payer: "0xp" }
const hang: Behaviour = () => {}
const cut: Behaviour = (request) => request.socket.destroy()

describe("a remote facilitator", () => {
  it.live("is called as the protocol demands", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const { exit, metrics } = yield* asked((request, response, body) => {
        seen.push(request.method, request.url, JSON.parse(body))
        json(200, { isValid: true, payer: "0xp" })(request, response, body)
      }, verify)
      assert.deepStrictEqual(exit, Exit.void)
      const body = { x402Version: 2, paymentPayload: testPayload("one"), paymentRequirements: testRequirements }
      assert.deepStrictEqual(seen, ["POST", "/v2/verify", body])
      assert.match(metrics, /x402_facilitator_calls_total\{.*operation="verify",outcome="accepted".*\} 1/u)
    })
  )

  it.live("has its message shown without its addresses and keys, and its code read from the whole message", () =>
    Effect.gen(function* () {
      const invalidMessage =
        "POST https://mainnet.node.example/v3/0123456789abcdef0123 via 127.0.0.1:8545 with Bearer abc.def: insufficient funds"
      const answer = {
        isValid: false,
        invalidReason: "transaction_simulation_failed",
        invalidMessage,
        payer: "http://x/"
      }
      const refused: object = outcome((yield* asked(json(200, answer), verify)).exit)
      assert.deepInclude(refused, { code: "PAYMENT_UNFUNDED", payer: null, reason: "transaction_simulation_failed" })
      const { detail = "" } = refused as { readonly detail?: string }
      assert.include(detail, "insufficient funds")
      for (const leak of ["node.example", "0123456789abcdef0123", "127.0.0.1", "abc.def"])
        assert.notInclude(detail, leak)

      const errorReason = "rpc at https://mainnet.node.example/v3/key failed"
      const unsettled = { success: false, errorReason, transaction: "", network }
      assert.notInclude(JSON.stringify(outcome((yield* asked(json(200, unsettled), settle)).exit)), "node.example")
    })
  )

  it.live.each<readonly [what: string, behaves: Behaviour, expected: string]>([
    ["refuses", json(200, { isValid: false, invalidReason: "insufficient_funds" }), "PaymentRefused"],
    ["refuses with 400", json(400, { isValid: false, invalidReason: "invalid_payload" }), "PaymentRefused"],
    ["refuses with 500", json(500, { isValid: false, invalidReason: "insufficient_funds" }), "ChainUnavailable"],
    ["does not know", json(200, { isValid: false, invalidReason: "unexpected_verify_error" }), "ChainUnavailable"],
    ["says yes with 400", json(400, { isValid: true }), "ChainUnavailable"],
    ["says yes in text", json(200, { isValid: "true" }), "ChainUnavailable"],
    ["limits us", json(429, {}), "ChainUnavailable"],
    ["says nothing of the kind", json(200, []), "ChainUnavailable"],
    ["hangs", hang, "ChainUnavailable"],
    ["hangs up", cut, "ChainUnavailable"]
  ])("that %s on verify", ([, behaves, expected]) =>
    Effect.map(asked(behaves, verify), ({ exit }) => assert.strictEqual(outcome(exit)._tag, expected))
  )

  it.live("names the client's next step after a refusal", () =>
    Effect.gen(function* () {
      const stale = {
        isValid: false,
        invalidReason: "invalid_exact_svm_transaction_simulation_failed",
        invalidMessage: "BlockhashNotFound",
        payer: "0xp"
      }
      const { exit } = yield* asked(json(200, stale), verify)
      assert.deepInclude(outcome(exit) as object, {
        code: "PAYMENT_BLOCKHASH_STALE",
        payer: "0xp",
        detail: "BlockhashNotFound"
      })
    })
  )

  it.live.each<readonly [what: string, behaves: Behaviour, expected: string]>([
    ["settles", json(200, paid), "accepted"],
    ["says success without a transaction", json(200, { ...paid, transaction: "" }), "SettlementPending"],
    ["says success on another chain", json(200, { ...paid, network: "eip155:1" }), "SettlementPending"],
    ["says success of another amount", json(200, { ...paid, amount: "1" }), "SettlementPending"],
    ["says success with 500", json(500, paid), "SettlementPending"],
    ["answers 200 without success", json(200, { ...paid, success: false, transaction: "" }), "SettlementPending"],
    [
      "refuses",
      json(200, { success: false, errorReason: "insufficient_funds", transaction: "", network }),
      "SettlementRefused"
    ],
    [
      "refuses after it has sent",
      json(200, { success: false, errorReason: "insufficient_funds", transaction: "0xaa", network }),
      "SettlementPending"
    ],
    [
      "does not know yet",
      json(200, { success: false, errorReason: "settlement_pending", transaction: "0xaa", network }),
      "SettlementPending"
    ],
    ["answers 502", json(502, {}), "SettlementPending"],
    ["is not let us in", json(401, {}), "ChainUnavailable"],
    ["hangs", hang, "SettlementPending"],
    ["hangs up", cut, "SettlementPending"]
  ])("that %s on settle", ([, behaves, expected]) =>
    Effect.map(asked(behaves, settle), ({ exit }) => assert.strictEqual(outcome(exit)._tag, expected))
  )

  it.live("that does not answer has certainly sent nothing", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(facilitatorThat(hang))
      const facilitator = yield* openFacilitator({ network, url: gone.url, timeoutMs: 400, connectionsMax: 4 })
      assert.strictEqual(outcome(yield* Effect.exit(settle(facilitator)))._tag, "ChainUnavailable")
    }).pipe(Effect.provide(services))
  )

  it.live("is asked what it supports while no payment tells whether it answers", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      let behaves = hang
      const { url } = yield* facilitatorThat((request, response, body) => {
        seen.push(`${request.method} ${request.url}`)
        behaves(request, response, body)
      })
      const { reach, verify } = yield* openFacilitator({ network, url, timeoutMs: 400, connectionsMax: 4 })
      const unreachable = Effect.map((yield* Metrics).text, (text) =>
        Number(/x402_facilitator_unreachable\{[^}]*\} (\d)/u.exec(text)?.[1])
      )
      assert.match(yield* Effect.flip(reach), /400 ms/u)
      assert.strictEqual(yield* unreachable, 1)

      // It need not have the question: that it answers is enough.
      behaves = json(404, {})
      yield* reach
      assert.strictEqual(yield* unreachable, 0)
      assert.deepStrictEqual(seen, ["GET /v2/supported", "GET /v2/supported"])

      // A payment has just told.
      yield* reach
      behaves = json(503, {})
      yield* Effect.flip(verify(testPayload("one"), testRequirements))
      assert.strictEqual(seen.length, 3)
      assert.strictEqual(yield* unreachable, 1)
      assert.strictEqual(yield* Effect.flip(reach), "status 503")
    }).pipe(Effect.provide(services))
  )
})
