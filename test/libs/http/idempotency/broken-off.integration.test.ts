import { spawn } from "node:child_process"
import { join } from "node:path"
import { execPath } from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { Kv } from "#bus"
import { Idempotency, idempotencyKey, notFound, route } from "#http"
import { Metrics } from "#runtime"
import { IdempotencyRecord, recordKey } from "../../../../libs/http/idempotency/record.ts"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { api, call, dial, pause } from "../api.ts"
import { counting, created, run } from "./counted-runs.ts"
import { countOf, replicaOf, request, seen } from "../replicas.ts"

describe("an interrupted request with an idempotency key", () => {
  it.live("is free again soon after its holder was killed", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server, { leaseMs: 3_000 })
      const holder = yield* Effect.acquireRelease(
        Effect.sync(() => spawn(execPath, [join(import.meta.dirname, "idempotent-holder.ts"), server.url, "3000"])),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      yield* Effect.callback<void>((resume) => void holder.stdout.once("data", () => resume(Effect.void)))
      const { state, handle } = counting(created)
      // Longer than the lease: it is renewed.
      yield* pause(4_500)
      assert.deepInclude(yield* seen(run(replica, handle)), { status: 409 })
      holder.kill("SIGKILL")
      const killedAt = performance.now()
      yield* eventually(seen(run(replica, handle)), { is: ({ status }) => status === 201 })
      assert.isBelow(performance.now() - killedAt, 5_000)
      assert.strictEqual(state.runs, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is stopped when its claim is lost, and leaves the new claim alone", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer, { leaseMs: 3_000 })
      const bucket = yield* Context.get(replica, Kv).open("idempotency", IdempotencyRecord)
      const key = recordKey("w1", "/v1/voices", "k1")
      let wasStopped = false
      const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (wasStopped = true)))
      const first = yield* Effect.forkChild(seen(run(replica, work)), { startImmediately: true })
      const entry = yield* eventually(bucket.get(key), { is: Option.isSome })
      const revision = Option.isSome(entry) ? entry.value.revision : 0
      yield* bucket.update(key, { state: "working", holder: "other", fingerprint: "f1" }, revision)
      assert.deepStrictEqual(yield* Fiber.join(first), { status: 503, code: "service_unavailable" })
      assert.isTrue(wasStopped)
      const after = Option.getOrThrow(yield* bucket.get(key))
      assert.deepInclude(after.value, { holder: "other", state: "working" })
      assert.strictEqual(yield* countOf(replica, "lost"), 1)
    }).pipe(Effect.scoped)
  )

  it.live("survives a short outage of the broker, is stopped by a long one, and never begins without it", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server, { leaseMs: 6_000 })
      const gate = yield* Deferred.make<void>()
      const { state, handle } = counting((turn) => Effect.andThen(Deferred.await(gate), created(turn)))
      const short = yield* Effect.forkChild(seen(run(replica, handle)), { startImmediately: true })
      yield* eventually(() => state.runs, { is: 1 })
      yield* Effect.promise(() => server.kill9())
      yield* Effect.promise(() => server.start())
      yield* pause(1_500)
      yield* Deferred.succeed(gate, undefined)
      assert.deepInclude(yield* Fiber.join(short), { status: 201 })
      assert.deepInclude(yield* seen(run(replica, handle)), { status: 201, replayed: "true" })
      assert.strictEqual(state.runs, 1)

      const long = yield* Effect.forkChild(seen(run(replica, Effect.never, { key: "k2" })), { startImmediately: true })
      yield* pause(300)
      const killedAt = performance.now()
      yield* Effect.promise(() => server.kill9())
      assert.deepStrictEqual(yield* Fiber.join(long), { status: 503, code: "service_unavailable" })
      assert.isBelow(performance.now() - killedAt, 6_000)
      const away = yield* Effect.flip(run(replica, handle, { key: "k3" }))
      assert.deepInclude(away, { status: 503, headers: { "retry-after": "1" } })
      assert.strictEqual(state.runs, 1)
      assert.strictEqual(yield* countOf(replica, "unavailable"), 1)
    }).pipe(Effect.scoped)
  )

  it.live("is freed when its caller leaves, and on a socket its refusal is repeated byte for byte", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      const state = { runs: 0 }
      const posted = route(
        "POST",
        "/voices",
        Effect.gen(function* () {
          const idempotency = yield* Idempotency
          const key = yield* idempotencyKey(undefined)
          const work = Effect.suspend(() => {
            state.runs += 1
            if (state.runs === 1) return Effect.never
            return Effect.fail(notFound(`no voice in ${state.runs}`))
          })
          return yield* idempotency.run(request({ key }), work)
        })
      )
      const standing = api([posted]).pipe(Layer.provide(Layer.succeed(Idempotency, Context.get(replica, Idempotency))))
      yield* Effect.gen(function* () {
        const leaver = yield* dial
        leaver.write("POST /voices HTTP/1.1\r\nhost: a\r\nidempotency-key: k\r\ncontent-length: 0\r\n\r\n")
        yield* eventually(() => state.runs, { is: 1 })
        leaver.destroy()
        yield* eventually(countOf(replica, "freed"), { is: (count) => count === 1 })
        const init = { method: "POST", headers: { "idempotency-key": "k" } }
        const first = yield* call("/voices", init)
        const again = yield* call("/voices", init)
        assert.deepStrictEqual([first.status, first.headers.get("idempotent-replayed")], [404, null])
        assert.deepStrictEqual([again.status, again.headers.get("idempotent-replayed")], [404, "true"])
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers.get("content-type"), first.headers.get("content-type"))
        assert.strictEqual(state.runs, 2)
        const text = yield* (yield* Metrics).text
        assert.match(text, /http_requests_total\{[^}]*route="\/voices",status="gone"\} 1/u)
      }).pipe(Effect.provide(standing))
    }).pipe(Effect.scoped)
  )
})
