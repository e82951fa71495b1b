import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { presenceMs, signBody, WebhookEndpoints } from "#webhooks"
import { busOn } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { watchProcessorShare } from "../../../support/processor-share.ts"
import { startRoleProcess } from "../../../support/role-process.ts"
import { publish, requestsTo, sequencesTo, setUp, steadily } from "../../../support/webhooks.ts"
import { operator } from "../../../support/operator.ts"

const by = "tester"
const utf8 = new TextEncoder()

const onBus = <A, E, R>(server: TestNatsServer, test: Effect.Effect<A, E, R>) =>
  Effect.provide(test, operator.pipe(Layer.provideMerge(busOn(server))))

const twoDispatchers = (server: TestNatsServer) =>
  Effect.all([startRoleProcess(server, "webhook-dispatcher"), startRoleProcess(server, "webhook-dispatcher")])

describe("with two dispatchers of which one is killed", () => {
  it.live("in the middle of a making, the endpoint gets every event after the answer", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* onBus(
        server,
        Effect.gen(function* () {
          const [one] = yield* twoDispatchers(server)
          const at = yield* WebhookEndpoints
          yield* at.create({ settings: { Name: "before", Url: receiver.url("/before") }, by })
          const steady = yield* steadily()
          yield* steady.after(50)
          const making = yield* Effect.forkScoped(
            at.create({ settings: { Name: "made", Url: receiver.url("/made") }, by })
          )
          yield* one.kill("SIGKILL")
          const made = yield* Fiber.join(making)
          yield* steady.after(100)
          const last = yield* steady.stop
          const wanted = Array.from({ length: last - made.startsAfter }, (_, index) => made.startsAfter + 1 + index)
          yield* eventually(() => {
            const got = new Set(sequencesTo(receiver, "/made"))
            return wanted.every((sequence) => got.has(sequence))
          })
          assert.strictEqual(Math.min(...sequencesTo(receiver, "/made")), made.startsAfter + 1)
        })
      )
    })
  )

  it.live("in the middle of a removal, nothing is sent after the answer, which waits for the dead one's presence", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* onBus(
        server,
        Effect.gen(function* () {
          const [one] = yield* twoDispatchers(server)
          const at = yield* WebhookEndpoints
          receiver.answer("/goes", (nth) => (nth % 3 === 0 ? 500 : 204))
          const settings = { Name: "goes", Url: receiver.url("/goes"), InitialBackoffSeconds: 0.2 }
          yield* at.create({ settings, by })
          const steady = yield* steadily()
          yield* eventually(() => requestsTo(receiver, "/goes").length, { is: (length) => length > 50 })
          yield* one.kill("SIGKILL")
          const share = watchProcessorShare()
          const startedAt = performance.now()
          assert.isTrue(yield* at.remove({ name: "goes", by }))
          const tookMs = performance.now() - startedAt
          const shareThen = yield* Effect.promise(share.end)
          yield* receiver.upToDate
          const sent = requestsTo(receiver, "/goes").length
          yield* steady.after(200)
          yield* steady.stop
          assert.strictEqual(requestsTo(receiver, "/goes").length, sent)
          // The dead one's presence ends by the broker's clock; what comes after is work.
          assert.isBelow(tookMs, presenceMs + 3_000 / shareThen)
        })
      )
    })
  )

  it.live("in the middle of a rotation, every delivery verifies by the old or the new secret", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* onBus(
        server,
        Effect.gen(function* () {
          const [one] = yield* twoDispatchers(server)
          const at = yield* WebhookEndpoints
          const secrets = ["old-secret-of-sixteen", "new-secret-of-sixteen"] as const
          yield* at.create({ settings: { Name: "a", Url: receiver.url("/a") }, secret: secrets[0], by })
          const steady = yield* steadily()
          yield* eventually(() => requestsTo(receiver, "/a").length, { is: (length) => length > 50 })
          const rotating = yield* Effect.forkScoped(at.rotate({ name: "a", secret: secrets[1], overlapMs: 60_000, by }))
          yield* one.kill("SIGKILL")
          yield* Fiber.join(rotating)
          yield* steady.after(100)
          const last = yield* steady.stop
          yield* eventually(() => sequencesTo(receiver, "/a").includes(last))
          const byNew = requestsTo(receiver, "/a").filter(({ headers, body }) => {
            const [old, fresh] = secrets.map((secret) => signBody(secret, utf8.encode(body)))
            const signature = headers["x-service-signature"]
            assert.isTrue(signature === old || signature === fresh)
            return signature === fresh
          })
          assert.isAbove(byNew.length, 50)
        })
      )
    })
  )
})

describe("a dispatcher that is stuck while an endpoint is removed", () => {
  it.live("sends nothing to it when it continues, and serves the others again", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* onBus(
        server,
        Effect.gen(function* () {
          const still = yield* startRoleProcess(server, "webhook-dispatcher")
          const at = yield* WebhookEndpoints
          for (const name of ["goes", "stays"]) {
            yield* at.create({ settings: { Name: name, Url: receiver.url(`/${name}`), Concurrency: 64 }, by })
          }
          const steady = yield* steadily()
          yield* eventually(() => requestsTo(receiver, "/goes").length, { is: (length) => length > 50 })
          yield* still.kill("SIGSTOP")
          assert.isTrue(yield* at.remove({ name: "goes", by }))
          yield* receiver.upToDate
          const sent = requestsTo(receiver, "/goes").length
          yield* still.kill("SIGCONT")
          const newest = yield* publish("work_item.done")
          yield* steady.after(100)
          yield* steady.stop
          yield* eventually(() => sequencesTo(receiver, "/stays").includes(newest))
          assert.strictEqual(requestsTo(receiver, "/goes").length, sent)
        })
      )
    })
  )

  it.live("sends nothing of the removed one to one that was made again under its name meanwhile", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* onBus(
        server,
        Effect.gen(function* () {
          const still = yield* startRoleProcess(server, "webhook-dispatcher")
          const at = yield* WebhookEndpoints
          const make = (path: string) =>
            at.create({ settings: { Name: "goes", Url: receiver.url(path), Concurrency: 64 }, by })
          yield* make("/former")
          const steady = yield* steadily()
          yield* eventually(() => requestsTo(receiver, "/former").length, { is: (length) => length > 50 })
          yield* still.kill("SIGSTOP")
          yield* startRoleProcess(server, "webhook-dispatcher")
          assert.isTrue(yield* at.remove({ name: "goes", by }))
          yield* receiver.upToDate
          const sent = requestsTo(receiver, "/former").length
          // The other one takes the fan-out over first, and then puts away what waited.
          const { startsAfter } = yield* Effect.retry(make("/again"), { times: 20 })
          yield* still.kill("SIGCONT")
          yield* steady.after(300)
          yield* steady.stop
          const newest = yield* publish("work_item.done")
          yield* eventually(() => sequencesTo(receiver, "/again").includes(newest))
          assert.deepStrictEqual(
            sequencesTo(receiver, "/again").filter((sequence) => sequence <= startsAfter),
            []
          )
          assert.strictEqual(requestsTo(receiver, "/former").length, sent)
        })
      )
    })
  )
})
