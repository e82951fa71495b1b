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

  it.live("is counted as unavailable also when every node's circuit is open and none is asked", () =>
    Effect.gen(function* () {
      const only = yield* node(answers("", 502))
      const rpc = yield* open(only.url)
      for (let call = 0; call < 7; call += 1) yield* Effect.flip(rpc.call("getHealth", []))

      assert.strictEqual(only.calls(), 5)
      assert.match(yield* (yield* Metrics).text, /method="getHealth",outcome="unavailable"[^}]*\} 7/u)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("a chain without traffic", () => {
  const unreachable = Effect.map(
    Effect.flatMap(Metrics, ({ text }) => text),
    (text) => Number(/x402_chain_unreachable\{[^}]*network="solana:test"\} (\d)/u.exec(text)?.[1])
  )

  it.live("is unreachable while its only node hangs, and reached by the first question that it answers again", () =>
    Effect.gen(function* () {
      let isHung = true
      const only = yield* node((request, response) => (isHung ? undefined : answers({ result: 7 })(request, response)))
      const rpc = yield* openWithin(50, only.url)
      // So often that its circuit opens: whether it answers is asked all the same.
      for (let time = 0; time < 7; time += 1)
        assert.strictEqual(yield* Effect.flip(rpc.reach("getSlot")), "no node answers, of 1")
      assert.deepStrictEqual([only.calls(), yield* unreachable], [7, 1])

      isHung = false
      yield* rpc.reach("getSlot")
      assert.strictEqual(yield* unreachable, 0)
      assert.match(yield* (yield* Metrics).text, /x402_rpc_nodes_open\{[^}]*\} 0/u)
      assert.strictEqual(yield* rpc.call("getHealth", []), 7)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("has no gauge where no check keeps it", () =>
    Effect.gen(function* () {
      const rpc = yield* open((yield* node(answers("", 502))).url)
      yield* Effect.flip(rpc.call("getHealth", []))
      assert.isNaN(yield* unreachable)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.live("is reached while one node answers, and is not asked when a call has just told", () =>
    Effect.gen(function* () {
      const away = yield* node(answers("", 502))
      const well = yield* node(answers({ result: "ok" }))
      const rpc = yield* open(away.url, well.url)
      yield* rpc.reach("getSlot")
      assert.deepStrictEqual([away.calls(), well.calls(), yield* unreachable], [1, 1, 0])
      yield* rpc.reach("getSlot")
      yield* rpc.call("getHealth", [])
      assert.deepStrictEqual([away.calls(), well.calls(), yield* unreachable], [2, 2, 0])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
