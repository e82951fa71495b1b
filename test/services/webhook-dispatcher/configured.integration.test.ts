import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { StreamReader } from "#bus"
import { subjects } from "#base"
import { dispatcherOn, whileDispatching } from "../../support/dispatcher.ts"
import { arrived, publish, setUp } from "../../support/webhooks.ts"

describe("a dispatcher's configuration", () => {
  it.live("without endpoints creates no consumer and keeps no events", () =>
    Effect.gen(function* () {
      const { server } = yield* setUp
      yield* whileDispatching(
        server,
        { endpoints: [] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          const reader = yield* StreamReader
          assert.isTrue(Option.isNone(yield* reader.last("DELIVERIES", subjects.deliveries(0).cursor)))
        })
      )
    })
  )

  it.live("with secrets that are unset, empty or no key is refused, each by its path and variable", () =>
    Effect.gen(function* () {
      const { server } = yield* setUp
      const endpoints = [
        { Name: "a", Url: "https://a.example/", SecretEnvVar: "NOT_SET" },
        { Name: "b", Url: "https://b.example/", SecretEnvVar: "EMPTY", StandardWebhooksSecretEnvVar: "ALSO_NOT_SET" },
        { Name: "c", Url: "https://c.example/", StandardWebhooksSecretEnvVar: "NO_KEY" }
      ]
      const built = Layer.build(dispatcherOn(server, { endpoints, environment: { EMPTY: " ", NO_KEY: "whsec_!!!" } }))
      const error = yield* Effect.flip(Effect.scoped(built))
      assert.strictEqual(error._tag, "InvalidConfiguration")
      for (const part of [
        "Webhooks[0].SecretEnvVar",
        "NOT_SET is not set",
        "EMPTY is empty",
        "ALSO_NOT_SET",
        "NO_KEY: "
      ]) {
        assert.include(error.message, part)
      }
    })
  )

  it.live("with more endpoints than own consumers delivers by partition in the same way", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/hang", () => "hang")
      receiver.answer("/flaky", (nth) => (nth === 1 ? 500 : 204))
      const endpoints = [
        { Name: "hang", Url: receiver.url("/hang"), Concurrency: 1 },
        { Name: "flaky", Url: receiver.url("/flaky"), InitialBackoffSeconds: 0.2, TimeoutSeconds: 1 },
        ...Array.from({ length: 20 }, (_, index) => ({ Name: `e${index}`, Url: receiver.url(`/e${index}`) }))
      ]
      yield* whileDispatching(
        server,
        { endpoints, delivery: { PartitionsAbove: 10 } },
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: 5 }), () => publish("work_item.merged"))
          for (let index = 0; index < 20; index++) yield* arrived(receiver, `/e${index}`, 5)
          yield* arrived(receiver, "/flaky", 6)
          yield* arrived(receiver, "/hang", 1)
          assert.strictEqual(receiver.requests.filter(({ path }) => path === "/hang").length, 1)
        })
      )
    })
  )

  it.live("that drops an endpoint for a while loses none of its events when it comes back", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const both = [
        { Name: "a", Url: receiver.url("/a") },
        { Name: "b", Url: receiver.url("/b") }
      ]
      yield* whileDispatching(
        server,
        { endpoints: both },
        Effect.andThen(
          publish("work_item.merged"),
          Effect.andThen(arrived(receiver, "/a", 1), arrived(receiver, "/b", 1))
        )
      )
      yield* whileDispatching(
        server,
        { endpoints: both.slice(0, 1) },
        Effect.andThen(publish("work_item.done"), arrived(receiver, "/a", 2))
      )
      yield* whileDispatching(server, { endpoints: both }, arrived(receiver, "/b", 2))
      const events = receiver.requests
        .filter(({ path }) => path === "/b")
        .map(({ headers }) => headers["x-service-event"])
      assert.deepStrictEqual(events, ["work_item.merged", "work_item.done"])
    })
  )
})
