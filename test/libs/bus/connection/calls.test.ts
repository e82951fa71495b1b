import { assert, describe, it } from "@effect/vitest"
import type { Msg } from "@nats-io/nats-core"
import { Effect, Option } from "effect"
import { type BrokerCalls, noResponders, question } from "../../../../libs/bus/connection/calls.ts"
import { lastMessage } from "../../../../libs/bus/connection/stream-calls.ts"

const answer = (text: string, code?: number) =>
  ({ data: new TextEncoder().encode(text), headers: code === undefined ? undefined : { code } }) as unknown as Msg

/** A broker that gives every question the same answer. */
const calls = (given: Msg): Pick<BrokerCalls, "call"> => ({ call: (operation, read) => read(operation, given) })

const ask = (given: Msg) =>
  question(calls(given) as BrokerCalls)("ask", { subject: "a", data: new Uint8Array(0) }, 1_000)
const last = (given: Msg) => lastMessage(calls(given) as BrokerCalls)("LOG", "log.a")

describe("a question on the bus", () => {
  it.effect("has the answer that comes, an empty one too", () =>
    Effect.gen(function* () {
      for (const given of [answer("yes"), answer(""), answer("", 200), answer("a text", 503)])
        assert.strictEqual(yield* ask(given), given)
    })
  )

  it.effect("fails at once when the broker reports no responders", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ask(answer("", 503)))
      assert.deepInclude(error, { _tag: "BusUnavailable", detail: noResponders })
    })
  )
})

describe("the last message on a subject", () => {
  const message = { subject: "log.a", seq: 7, time: "2026-11-29T07:33:52.000Z", data: "aGk=" }

  it.effect("is the stored one, or none", () =>
    Effect.gen(function* () {
      const found = yield* last(answer(JSON.stringify({ message })))
      assert.deepInclude(Option.getOrThrow(found), { subject: "log.a", sequence: 7 })
      assert.deepStrictEqual(Option.getOrThrow(found).data, new Uint8Array([0x68, 0x69]))
      assert.isTrue(Option.isNone(yield* last(answer('{"error":{"code":404,"err_code":10037}}'))))
    })
  )

  it.effect.each([
    ["nobody answers", answer("", 503), "JetStream does not answer"],
    ["the answer has no message", answer('{"message":{"subject":"log.a"}}'), "an answer without a message"]
  ] as const)("is not known where %s", ([, given, detail]) =>
    Effect.gen(function* () {
      assert.deepInclude(yield* Effect.flip(last(given)), { _tag: "BusUnavailable", detail })
    })
  )
})
