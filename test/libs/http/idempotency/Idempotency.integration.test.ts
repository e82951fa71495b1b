import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Stream } from "effect"
import {
  type Answer,
  bytesAnswer,
  conflict,
  emptyAnswer,
  Idempotency,
  jsonAnswer,
  notFound,
  rateLimited,
  serviceUnavailable,
  streamAnswer,
  type WireError
} from "#http"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { counting, created, run } from "./counted-runs.ts"
import { countOf, type Replica, replicaOf, request, seen } from "../replicas.ts"

const conflicting = { status: 409, code: "idempotency_conflict" }

describe("a request with an idempotency key", () => {
  it.live("runs once, over two replicas and a restart, and repeats its exact answer", () =>
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

  it.live("is distinct per workspace, route and key; without a key it always runs", () =>
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
      yield* eventually(() => state.runs, { is: 1 })
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
      // The first one works until all others are answered, however slow the machine is.
      const isRefusedByAll = yield* Deferred.make<void>()
      const { state, handle } = counting((turn) => Effect.andThen(Deferred.await(isRefusedByAll), created(turn)))
      const statuses: Array<number> = []
      yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? one : two)),
        (replica) =>
          Effect.tap(seen(run(replica, handle)), ({ status }) =>
            statuses.push(status) === 59 ? Deferred.succeed(isRefusedByAll, undefined) : Effect.void
          ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(state.runs, 1)
      assert.strictEqual(statuses.filter((status) => status === 201).length, 1)
      assert.strictEqual(statuses.filter((status) => status === 409).length, 59)
    }).pipe(Effect.scoped)
  )

  it.live("keeps refusals of the request, and no failure that a retry can fix", () =>
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

  it.live("keeps an empty answer and one of 64 KiB, and no larger or streamed one", () =>
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

  it.live("frees its key by a refusal where refusals are no answers", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      const { state, handle } = counting((turn) => (turn === 1 ? Effect.fail(notFound("not yet")) : created(turn)))
      const more = { keepsRefusals: false }
      assert.strictEqual((yield* Effect.flip(run(one, handle, more))).status, 404)
      assert.deepInclude(yield* seen(run(two, handle, { ...more, fingerprint: "f2" })), { text: '{"turn":2}' })
      assert.deepInclude(yield* seen(run(one, handle, { ...more, fingerprint: "f2" })), { replayed: "true" })
      assert.strictEqual(state.runs, 2)
    }).pipe(Effect.scoped)
  )

  it.live("keeps what its first run chose for later ones of the same request, on every replica", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const [one, two] = [yield* replicaOf(server), yield* replicaOf(server)]
      let choice = 0
      const choosing = (replica: Replica, more: Parameters<typeof request>[0] = {}) =>
        Context.get(replica, Idempotency).chosen(
          request(more),
          Effect.sync(() => (choice += 1))
        )
      // A run that fails after its choice, as where the broker goes away, or its process.
      const failing = Effect.andThen(choosing(one), Effect.fail(serviceUnavailable(1)))
      assert.strictEqual((yield* seen(run(one, failing))).status, 503)
      const chosen = [
        yield* choosing(two),
        yield* choosing(one, { fingerprint: "f2" }),
        yield* choosing(two, { fingerprint: "f2" }),
        yield* choosing(two, { key: "k2" }),
        yield* choosing(two, { key: undefined }),
        yield* choosing(two, { key: undefined })
      ]
      assert.deepStrictEqual(chosen, [1, 2, 2, 3, 4, 5])
    }).pipe(Effect.scoped)
  )
})
