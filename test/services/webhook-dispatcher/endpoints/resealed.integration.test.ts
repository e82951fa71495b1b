import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Environment } from "#runtime"
import { signBody, WebhookEndpoints } from "#webhooks"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import { operatorWith } from "../../../support/operator.ts"
import { arrived, attemptRecords, metric, publish, requestsTo, setUp } from "../../../support/webhooks.ts"

const by = "tester"
const environment = { FIRST: "the first key of this test", NEXT: "the next key of this test" }
const noKey = {}
const firstKey = { SecretsKeyEnvVar: "FIRST" }
const bothKeys = { SecretsKeyEnvVar: "NEXT", PreviousSecretsKeyEnvVar: "FIRST" }
const nextKey = { SecretsKeyEnvVar: "NEXT" }

const secret = "a-secret-of-the-receiver"
const isSealingFailing = metric("check_failing", 'check="sealing"')

const asOperator = <A, E, R>(
  keys: Parameters<typeof operatorWith>[0],
  act: (at: WebhookEndpoints["Service"]) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(WebhookEndpoints, act).pipe(
    Effect.provide(Layer.provide(operatorWith(keys), Layer.succeed(Environment, environment)))
  )

const reseal = (keys: Parameters<typeof operatorWith>[0]) => asOperator(keys, (at) => at.reseal)

describe("the sealing key of two dispatchers", () => {
  it.live("is begun with, changed while they deliver, and taken away, and no attempt is lost", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const bothDispatch = <A, E, R>(keys: Readonly<Record<string, string>>, test: Effect.Effect<A, E, R>) => {
        const options = { endpoints: [], delivery: keys, bus: { Topology: "verify" }, environment }
        return whileDispatching(server, options, whileDispatching(server, options, test))
      }
      let sent = 0
      const delivers = Effect.gen(function* () {
        // Each dispatcher takes some.
        for (let nth = 0; nth < 10; nth += 1) yield* publish("work_item.merged")
        sent += 10
        yield* arrived(receiver, "/signed", sent)
      })

      yield* bothDispatch(
        noKey,
        Effect.gen(function* () {
          const settings = { Name: "signed", Url: receiver.url("/signed") }
          yield* asOperator(noKey, (at) => at.create({ settings, secret, by }))
          yield* delivers
          yield* eventually(isSealingFailing, { is: 1, withinMs: 60_000 })
        })
      )
      yield* bothDispatch(
        firstKey,
        Effect.gen(function* () {
          yield* eventually(isSealingFailing, { is: 1, withinMs: 60_000 })
          assert.deepStrictEqual(yield* reseal(firstKey), { resealed: 1, unreadable: [] })
          yield* delivers
          yield* eventually(isSealingFailing, { is: 0, withinMs: 60_000 })
        })
      )
      yield* bothDispatch(
        bothKeys,
        Effect.gen(function* () {
          yield* delivers
          assert.deepStrictEqual(yield* reseal(nextKey), { resealed: 0, unreadable: ["signed"] })
          assert.deepStrictEqual(yield* reseal(bothKeys), { resealed: 1, unreadable: [] })
          assert.deepStrictEqual(yield* reseal(bothKeys), { resealed: 0, unreadable: [] })
          yield* delivers
        })
      )
      yield* bothDispatch(
        nextKey,
        Effect.gen(function* () {
          yield* delivers
          assert.strictEqual(yield* isSealingFailing, 0)
          const log = yield* eventually(attemptRecords, { is: (all) => all.length >= sent })
          assert.isTrue(log.every(({ outcome, attempt }) => outcome === "delivered" && attempt === 1))
        })
      )
      for (const { headers, body } of requestsTo(receiver, "/signed")) {
        assert.strictEqual(headers["x-service-signature"], signBody(secret, Buffer.from(body)))
      }
    })
  )
})
