import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/nats-core"
import { Mailbox, Nats, Rejections, Requests } from "#bus"
import { Metrics } from "#runtime"
import { note } from "./trial.ts"

it.effect("a question that fails its schema is told its faults only as they may be shown", () => {
  let pose: (error: null, message: Msg) => void = () => assert.fail("nobody answers yet")
  const subscribe = (_: string, { callback }: { readonly callback: typeof pose }) => {
    pose = callback
    return { drain: () => Promise.resolve() }
  }
  const nats = { connection: { subscribe } as unknown as NatsConnection } as Nats["Service"]
  const services = Layer.mergeAll(
    Layer.succeed(Nats, nats),
    Layer.succeed(Mailbox, { instance: "answerer" } as Mailbox["Service"]),
    Layer.succeed(Rejections, {
      reject: () => Effect.void,
      reportable: () => [{ path: "text", message: "is [secret],\nand wrong" }]
    }),
    Metrics.layerTest
  )
  return Effect.gen(function* () {
    const refusals: Array<string | undefined> = []
    const handler = () => Effect.die("it is asked nothing")
    const asked = { subject: "ask.me", queueGroup: "all", question: note, answer: note, concurrency: 1, handler }
    yield* (yield* Requests).answer(asked)
    pose(null, {
      subject: "ask.me",
      data: new TextEncoder().encode('{"text":7}'),
      respond: (_: Uint8Array, given: { readonly headers: MsgHdrs }) => {
        refusals.push(given.headers.get("Starling-Refused"))
        return true
      }
    } as unknown as Msg)
    yield* Effect.yieldNow
    assert.deepStrictEqual(refusals, ["text: is [secret], and wrong"])
  }).pipe(Effect.scoped, Effect.provide(Layer.provide(Requests.layer, services)))
})
