import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { Publisher, Requests, type SourceMessage, StreamReader } from "#bus"
import type { AskedDelivery, AskedDeliveryAnswer, Delivery } from "#webhooks/contract"
import { answerAskedDeliveries, sendAgain } from "#webhooks"
import { abandonedHeaders } from "../../../libs/webhooks/deliveries.ts"
import { failingAtEach, isAfter, recordedPublisher, type Recorder, recorder, told } from "../../support/recorder.ts"

const delivery: Delivery = {
  deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  endpointId: "0123456789abc",
  event: "queue.paused",
  schemaVersion: "1.2.0",
  sequence: 7,
  attempt: 4,
  storedAt: 0,
  dueAt: 0
}
const headers = new Map(
  abandonedHeaders(delivery, {
    endpoint: "demo",
    reason: "no attempt is left",
    attempts: 4,
    lastStatus: 500,
    lastError: null,
    abandonedAt: "2026-11-29T12:00:00.000Z"
  })
)
const abandoned: SourceMessage = {
  subject: "abandoned.a",
  sequence: 12,
  storedAtMs: 0,
  data: new TextEncoder().encode("{}"),
  header: (name) => headers.get(name)
}

/** Sends the abandoned delivery again, by a dispatcher that is asked in this process. */
const sendingAgain = Effect.fnUntraced(function* (record: Recorder) {
  let answer: (asked: AskedDelivery) => Effect.Effect<AskedDeliveryAnswer> = () => Effect.die("nobody answers")
  const requests = {
    answer: ({ handler }: { readonly handler: (asked: AskedDelivery) => Effect.Effect<AskedDeliveryAnswer> }) =>
      Effect.map(Effect.context<never>(), (context) => {
        answer = (asked) => Effect.provide(handler(asked), context)
      }),
    ask: (_: unknown, asked: AskedDelivery) =>
      record.call(
        "ask",
        Effect.suspend(() => answer(asked))
      )
  }
  const reader = {
    next: () => Effect.succeedSome(abandoned),
    last: () => Effect.succeedNone,
    remove: (stream: string, sequence: number) => record.call(`remove ${sequence} of ${stream}`, Effect.void)
  }
  const layer = Layer.mergeAll(
    Layer.succeed(Requests, requests as unknown as Requests["Service"]),
    Layer.succeed(StreamReader, reader as unknown as StreamReader["Service"]),
    Layer.succeed(Publisher, recordedPublisher(record))
  )
  return yield* Effect.gen(function* () {
    yield* answerAskedDeliveries({ hasEndpoint: () => Effect.succeed(true), findType: () => Effect.undefined })
    return yield* sendAgain({ sequence: abandoned.sequence })
  }).pipe(Effect.scoped, Effect.provide(layer))
})

describe("an abandoned delivery that is sent again", () => {
  it.effect("leaves ABANDONED only once it is stored among those that are due, whichever call fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach(sendingAgain)
      const due = runs[0]?.calls.find((name) => name.startsWith("publish ")) ?? ""
      assert.match(due, new RegExp(`^publish deliveries\\.due\\.\\d+\\.${delivery.endpointId}$`, "u"))
      assert.deepStrictEqual(runs[0]?.calls, ["ask", due, "remove 12 of ABANDONED"])
      for (const run of runs) {
        assert.isTrue(isAfter(run, "remove 12 of ABANDONED", due), told(run))
        assert.strictEqual(Exit.isFailure(run.exit), run.failedAt !== undefined, told(run))
      }
    })
  )

  it.effect("has the same id each time, so that one asked for again is not made twice", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.forEach([1, 2], () => sendingAgain(recorder()))
      const [first, second] = ids.map((answer) => (answer._tag === "Stored" ? answer.deliveryId : "none"))
      assert.strictEqual(first, second)
      assert.notInclude(["none", delivery.deliveryId], first)
    })
  )
})
