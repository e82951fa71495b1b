import { spawn } from "node:child_process"
import { join } from "node:path"
import { execPath } from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import { Kv } from "#bus"
import {
  type Answer,
  bytesAnswer,
  conflict,
  emptyAnswer,
  Idempotency,
  idempotencyKey,
  jsonAnswer,
  notFound,
  rateLimited,
  route,
  serviceUnavailable,
  streamAnswer,
  type WireError
} from "#http"
import { Metrics } from "#runtime"
import { IdempotencyRecord, recordKey } from "../../../libs/http/idempotency-record.ts"
import { eventually, natsServer } from "../../support/bus.ts"
import { api, call, dial, pause } from "./api.ts"
import { countOf, type Replica, replicaOf, request, seen } from "./replicas.ts"

const run = (replica: Replica, handle: Effect.Effect<Answer, WireError>, more: Parameters<typeof request>[0] = {}) =>
  Context.get(replica, Idempotency).run(request(more), handle)

/** A handler that counts how often it ran. */
const counting = (answer: (turn: number) => Effect.Effect<Answer, WireError>) => {
  const state = { runs: 0 }
  return { state, handle: Effect.suspend(() => answer((state.runs += 1))) }
}
const conflicting = { status: 409, code: "idempotency_conflict" }
const created = (turn: number) => Effect.succeed(jsonAnswer({ turn }, { status: 201, headers: { location: "/v/1" } }))

describe("a request with an idempotency key", () => {
  it.live("runs once, over two replicas and a restart, and its very answer is given again", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const { state, handle } = counting(created)
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      const first = yield* seen(run(one, handle))
      assert.deepStrictEqual(first, {
        status: 201,
        type: "application/json",
        text: '{"turn":1}',
        replayed: undefined
      })
      for (const replica of [one, two, yield* replicaOf(server)]) {
        const again = yield* run(replica, handle)
        assert.strictEqual(again.headers["location"], "/v/1")
        assert.deepStrictEqual(yield* seen(Effect.succeed(again)), { ...first, replayed: "true" })
      }
      assert.strictEqual(state.runs, 1)
      assert.deepStrictEqual([yield* countOf(one, "first"), yield* countOf(two, "replayed")], [1, 1])
    }).pipe(Effect.scoped)
  )

  it.live("is another one in another workspace, on another route and with another key; without one it just runs", () =>
    Effect.gen(function* () {
      const { state, handle } = counting(created)
      const replica = yield* replicaOf(yield* natsServer)
      for (const more of [{}, { workspace: "w2" }, { route: "/v1/other" }, { key: "k2" }]) {
        yield* run(replica, handle, more)
      }
      assert.strictEqual(state.runs, 4)
      yield* run(replica, handle, { key: undefined })
      yield* run(replica, handle, { key: undefined })
      assert.strictEqual(state.runs, 6)
    }).pipe(Effect.scoped)
  )

  it.live("conflicts with another request under its key, and with itself while it runs", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      const gate = yield* Deferred.make<void>()
      const { state, handle } = counting((turn) => Effect.andThen(Deferred.await(gate), created(turn)))
      const first = yield* Effect.forkChild(run(one, handle), { startImmediately: true })
      yield* eventually(Effect.sync(() => state.runs === 1))
      const inFlight = yield* Effect.flip(run(two, handle))
      assert.deepInclude(inFlight, { status: 409, code: "idempotency_conflict", headers: { "retry-after": "1" } })
      const other = yield* seen(run(two, handle, { fingerprint: "f2" }))
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(first)).status, 201)
      const later = yield* seen(run(two, handle, { fingerprint: "f2" }))
      assert.deepStrictEqual([other, later], [conflicting, conflicting])
      assert.strictEqual(state.runs, 1)
      assert.deepStrictEqual([yield* countOf(two, "in_flight"), yield* countOf(two, "conflict")], [1, 2])
    }).pipe(Effect.scoped)
  )

  it.live("runs exactly once when many come at the same moment to two replicas", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      const { state, handle } = counting((turn) => Effect.andThen(Effect.sleep("50 millis"), created(turn)))
      const statuses = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? one : two)),
        (replica) => Effect.map(seen(run(replica, handle)), ({ status }) => status),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(state.runs, 1)
      assert.strictEqual(statuses.filter((status) => status === 201).length, 1)
      assert.strictEqual(statuses.filter((status) => status === 409).length, 59)
    }).pipe(Effect.scoped)
  )

  it.live("keeps a refusal of the request, and nothing that a retry can mend", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      const kept = [notFound("no such voice"), conflict("taken")]
      for (const error of kept) {
        const { state, handle } = counting(() => Effect.fail(error))
        const key = { key: error.code }
        assert.strictEqual((yield* Effect.flip(run(one, handle, key))).code, error.code)
        const again = yield* seen(run(two, handle, key))
        assert.deepInclude(again, { status: error.status, replayed: "true" })
        assert.include(again.text, error.message)
        assert.strictEqual(state.runs, 1)
      }
      const passing: ReadonlyArray<Effect.Effect<Answer, WireError>> = [
        Effect.fail(serviceUnavailable(1)),
        Effect.fail(rateLimited(60, "per_hour")),
        Effect.die(new Error("a bug")),
        Effect.interrupt,
        Effect.succeed(jsonAnswer({}, { status: 502 }))
      ]
      for (const [n, effect] of passing.entries()) {
        const { state, handle } = counting((turn) => (turn === 1 ? effect : created(turn)))
        yield* Effect.exit(run(one, handle, { key: `p${n}` }))
        assert.deepInclude(yield* seen(run(two, handle, { key: `p${n}` })), { text: '{"turn":2}' })
        assert.strictEqual(state.runs, 2)
      }
      assert.strictEqual(yield* countOf(one, "freed"), passing.length)
    }).pipe(Effect.scoped)
  )

  it.live("keeps an empty answer and one of 64 KiB, none that is larger or made while it is sent", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer)
      const bytes = (length: number) => Effect.succeed(bytesAnswer(new Uint8Array(length).fill(120), "audio/wav"))
      const stream = Effect.scoped(streamAnswer(Stream.make(new Uint8Array(3)), { contentType: "audio/wav" }))
      const answers: ReadonlyArray<readonly [string, Effect.Effect<Answer, WireError>, number]> = [
        ["empty", Effect.succeed(emptyAnswer()), 1],
        ["largest", bytes(65_536), 1],
        ["too large", bytes(65_537), 2],
        ["stream", stream, 2]
      ]
      for (const [key, answer, runs] of answers) {
        const { state, handle } = counting(() => answer)
        const first = yield* seen(run(replica, handle, { key }))
        const again = yield* seen(run(replica, handle, { key }))
        assert.strictEqual(state.runs, runs, key)
        assert.deepStrictEqual({ ...again, replayed: undefined }, first)
      }
      assert.strictEqual(yield* countOf(replica, "unstored"), 4)
    }).pipe(Effect.scoped)
  )

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
      yield* eventually(Effect.map(seen(run(replica, handle)), ({ status }) => status === 201))
      assert.isBelow(performance.now() - killedAt, 5_000)
      assert.strictEqual(state.runs, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is stopped when its claim is lost, and leaves the other's alone", () =>
    Effect.gen(function* () {
      const replica = yield* replicaOf(yield* natsServer, { leaseMs: 3_000 })
      const bucket = yield* Context.get(replica, Kv).open("idempotency", IdempotencyRecord)
      const key = recordKey("w1", "/v1/voices", "k1")
      let wasStopped = false
      const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => (wasStopped = true)))
      const first = yield* Effect.forkChild(seen(run(replica, work)), { startImmediately: true })
      const entry = yield* Effect.repeat(bucket.get(key), { until: Option.isSome })
      const revision = Option.isSome(entry) ? entry.value.revision : 0
      yield* bucket.update(key, { state: "working", holder: "other", fingerprint: "f1" }, revision)
      assert.deepStrictEqual(yield* Fiber.join(first), { status: 503, code: "service_unavailable" })
      assert.isTrue(wasStopped)
      const after = Option.getOrThrow(yield* bucket.get(key))
      assert.deepInclude(after.value, { holder: "other", state: "working" })
      assert.strictEqual(yield* countOf(replica, "lost"), 1)
    }).pipe(Effect.scoped)
  )

  it.live("goes on over a short absence of the broker, is stopped by a long one, and never begins without it", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const replica = yield* replicaOf(server, { leaseMs: 6_000 })
      const gate = yield* Deferred.make<void>()
      const { state, handle } = counting((turn) => Effect.andThen(Deferred.await(gate), created(turn)))
      const short = yield* Effect.forkChild(seen(run(replica, handle)), { startImmediately: true })
      yield* eventually(Effect.sync(() => state.runs === 1))
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

  it.live("is freed when its caller goes away, and on a socket its refusal is sent again byte for byte", () =>
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
        yield* eventually(Effect.sync(() => state.runs === 1))
        leaver.destroy()
        yield* eventually(Effect.map(countOf(replica, "freed"), (count) => count === 1))
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
