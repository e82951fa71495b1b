import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { RpcRejected, RpcUnavailable, openJsonRpc } from "../../../../libs/payments/chains/json-rpc.ts"
const layer = ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

const node = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly calls: () => number; readonly close: Effect.Effect<void> }>(
      (resume) => {
        let calls = 0
        const server = createServer((request, response) => {
          calls += 1
          request.resume()
          listener(request, response)
        })
        server.listen(0, "127.0.0.1", () => {
          const close = Effect.callback<void>((done) => {
            server.close(() => done(Effect.void))
            server.closeAllConnections()
          })
          const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
          resume(Effect.succeed({ url, calls: () => calls, close }))
        })
      }
    ),
    ({ close }) => close
  )

const answers =
  (body: unknown, status = 200): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify({ id: 1, ...Object(body) }))

const openWithin = (deadlineMs: number, ...urls: ReadonlyArray<string>) =>
  openJsonRpc({ network: "solana:test", urls, deadlineMs, connectionsMax: 2 })

const open = (...urls: ReadonlyArray<string>) => openWithin(10_000, ...urls)

const failureOf = (urls: ReadonlyArray<string>, deadlineMs = 10_000) =>
  Effect.flatMap(openWithin(deadlineMs, ...urls), (rpc) => Effect.flip(rpc.call("getHealth", [])))

describe("a call to a chain's node", () => {
  it.live("returns its result, of any kind", () =>
    Effect.gen(function* () {
      for (const result of ["ok", null, 0, { value: [1] }]) {
        const rpc = yield* open((yield* node(answers({ result }))).url)

        assert.deepStrictEqual(yield* rpc.call("getHealth", []), result)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("takes a node's error for an answer, with its data, and calls no other node", () =>
    Effect.gen(function* () {
      const error = { code: -32_002, message: "no", data: { err: "BlockhashNotFound" } }
      const first = yield* node(answers({ error }, 500))
      const second = yield* node(answers({ result: "ok" }))
      const failure = yield* failureOf([first.url, second.url])

      assert(failure instanceof RpcRejected)
      assert.deepStrictEqual(
        [failure.code, failure.detail, failure.data],
        [-32_002, "no", { err: "BlockhashNotFound" }]
      )
      assert.strictEqual(second.calls(), 0)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live(
    "is unavailable on silence, on web pages, on an oversized answer and on too many calls, and may have arrived",
    () =>
      Effect.gen(function* () {
        const silent = yield* node(() => undefined)
        const nodes = [
          yield* node((request) => void request.destroy()),
          yield* node(answers("<h1>busy</h1>", 503)),
          yield* node(answers({ result: "x".repeat(2_000_000) })),
          yield* node(answers({ result: "ok" }, 429)),
          yield* node(answers({})),
          yield* node(answers({ error: { code: -32_005, message: "Node is behind" } }))
        ]
        const failures = [yield* failureOf([silent.url], 200)]
        for (const { url } of nodes) failures.push(yield* failureOf([url]))

        for (const failure of failures) {
          assert(failure instanceof RpcUnavailable, failure.message)
          assert.isTrue(failure.mayHaveArrived)
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("has certainly not arrived when nothing listens, or no node is configured", () =>
    Effect.gen(function* () {
      for (const urls of [["http://127.0.0.1:9"], []]) {
        const failure = yield* failureOf(urls)

        assert(failure instanceof RpcUnavailable)
        assert.isFalse(failure.mayHaveArrived)
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("goes to the next node, and stays with the one that answers", () =>
    Effect.gen(function* () {
      const first = yield* node(answers("", 502))
      const second = yield* node(answers({ result: "ok" }))
      const rpc = yield* open(first.url, second.url)
      for (let call = 0; call < 3; call += 1) assert.strictEqual(yield* rpc.call("getHealth", []), "ok")

      assert.deepStrictEqual([first.calls(), second.calls()], [1, 3])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("skips a node that failed repeatedly, and tries it again later", () =>
    Effect.gen(function* () {
      let isWell = false
      const only = yield* node((request, response) => answers(isWell ? { result: "ok" } : "")(request, response))
      const rpc = yield* open(only.url)
      for (let call = 0; call < 8; call += 1) yield* Effect.flip(rpc.call("getHealth", []))
      const whileOpen = only.calls()
      isWell = true
      const answer = yield* Effect.retry(rpc.call("getHealth", []), { times: 100, schedule: Schedule.spaced(20) })

      assert.deepStrictEqual([whileOpen, answer], [5, "ok"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("that waits for something ends at its timeout, without blame for the node", () =>
    Effect.gen(function* () {
      let isSlow = true
      const first = yield* node((request, response) =>
        isSlow ? undefined : answers({ result: "ok" })(request, response)
      )
      const second = yield* node(answers({ result: "of the second" }))
      const rpc = yield* open(first.url, second.url)
      for (let call = 0; call < 6; call += 1) {
        const failure = yield* Effect.flip(rpc.call("sendAndWait", [], 50))

        assert.deepInclude(failure, { _tag: "RpcUnavailable", why: "wait over", mayHaveArrived: true })
      }
      isSlow = false

      assert.strictEqual(yield* rpc.call("getHealth", []), "ok")
      assert.strictEqual(second.calls(), 0)
      assert.match(yield* (yield* Metrics).text, /method="sendAndWait",outcome="waited"[^}]*\} 6/u)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("is counted by network, method and outcome", () =>
    Effect.gen(function* () {
      const rpc = yield* open((yield* node(answers({ result: "ok" }))).url)
      yield* rpc.call("getHealth", [])
      const text = yield* (yield* Metrics).text

      assert.match(
        text,
        /x402_rpc_calls_total\{[^}]*network="solana:test",method="getHealth",outcome="answered"[^}]*\} 1/u
      )
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
