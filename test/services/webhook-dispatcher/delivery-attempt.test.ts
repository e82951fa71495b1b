import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ack, BusRefused, nak, Publisher } from "#bus"
import type { Attempt, Delivery } from "#webhooks/contract"
import { UntrustedHttp } from "#egress"
import { Configuration } from "#configuration"
import { Secrets } from "#runtime"
import { type DueDelivery, EndpointStates } from "#webhooks"
import { AbandonedDeliveries } from "../../../services/webhook-dispatcher/abandoned.ts"
import { AttemptLog } from "../../../services/webhook-dispatcher/attempt-log.ts"
import { type Attempted, DeliveryAttempts } from "../../../services/webhook-dispatcher/delivery-attempt.ts"
import type { EndpointSettings } from "../../../services/webhook-dispatcher/endpoints/settings.ts"
import { DeliveryOrder } from "../../../services/webhook-dispatcher/order/DeliveryOrder.ts"
import { AccessTokens } from "../../../services/webhook-dispatcher/AccessTokens.ts"
import { DeliveryMetrics } from "../../../services/webhook-dispatcher/metrics.ts"
import { AttemptResult, type Decision } from "../../../services/webhook-dispatcher/retry-policy.ts"
import { failingAtEach, isAfter, recordedPublisher, type Recorder, recorder, told } from "../../support/recorder.ts"

const delivery: Delivery = {
  deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  endpointId: "0123456789abc",
  event: "queue.paused",
  schemaVersion: "1.2.0",
  sequence: 7,
  attempt: 1,
  storedAt: 0,
  dueAt: 0
}
const due: DueDelivery = { delivery, body: new TextEncoder().encode("{}") }
const endpoint = {
  id: delivery.endpointId,
  partition: 3,
  name: "demo",
  retry: { waitsMs: [1_000], jitter: 0, retryAfterMsMax: 0 },
  madeAtRunTime: null
} as unknown as EndpointSettings

const attempted = (status: number, body = ""): Attempted => ({
  result: AttemptResult.Answered({ status, retryAfter: undefined }),
  error: undefined,
  body: new TextEncoder().encode(body),
  headers: {},
  requestHeaders: {},
  startedAtMs: 0,
  durationMs: 5
})

const waiting = `publish deliveries.wait.${delivery.endpointId}.${delivery.deliveryId}`

const attemptsOn = (record: Recorder, publisher: Publisher["Service"] = recordedPublisher(record)) => {
  const logged: Array<Attempt> = []
  const stubs = Layer.mergeAll(
    Layer.succeed(Secrets, { redact: (text: string) => text.replaceAll("of the fleet", "[secret]") } as never),
    Layer.succeed(Configuration, { Events: { Source: "/starling" }, WebhookDelivery: { AllowCidrs: [] } } as never),
    Layer.succeed(UntrustedHttp, { open: () => Effect.succeed({}) } as never),
    Layer.succeed(AccessTokens, {} as never),
    Layer.succeed(Publisher, publisher),
    Layer.succeed(AbandonedDeliveries, { delivery: () => record.call("abandon", Effect.void) } as never),
    Layer.succeed(DeliveryOrder, {
      settle: (_: Delivery, { _tag }: Decision) => record.note(`settle ${_tag}`)
    } as never),
    Layer.succeed(AttemptLog, { add: (_: string, one: Attempt) => void logged.push(one), flush: Effect.void }),
    Layer.succeed(EndpointStates, { pause: () => record.call("pause the endpoint", Effect.void) } as never),
    Layer.succeed(DeliveryMetrics, { attempted: () => undefined, tested: () => undefined } as never)
  )
  const conclude = (sent: Attempted, of: DueDelivery = due, to: EndpointSettings = endpoint) =>
    Effect.flatMap(DeliveryAttempts, (attempts) => attempts.conclude(to, of, sent)).pipe(
      Effect.tap(({ _tag }) => record.note(_tag)),
      Effect.provide(Layer.provide(DeliveryAttempts.layer, stubs))
    )
  const postpone = (untilMs: number) =>
    Effect.flatMap(DeliveryAttempts, (attempts) => attempts.postpone(due, untilMs)).pipe(
      Effect.provide(Layer.provide(DeliveryAttempts.layer, stubs))
    )
  return { conclude, postpone, logged }
}

/** Concludes, with time for a write that is tried again. */
const concluded = (sent: Attempted, of = due) =>
  Effect.fnUntraced(function* (record: Recorder) {
    const fiber = yield* Effect.forkChild(attemptsOn(record).conclude(sent, of))
    yield* TestClock.adjust("2 seconds")
    return yield* Fiber.join(fiber)
  })

describe("a delivery that was not made", () => {
  const last: DueDelivery = { ...due, delivery: { ...delivery, attempt: 2 } }
  const keyed: DueDelivery = { ...due, delivery: { ...last.delivery, key: "a" } }
  const rows: ReadonlyArray<readonly [what: string, sent: Attempted, of: DueDelivery, steps: ReadonlyArray<string>]> = [
    ["its retry is stored", attempted(500), due, [waiting]],
    ["it is put away as abandoned, where no attempt is left", attempted(500), last, ["abandon"]],
    ["its key has its gap, after it was put away", attempted(500), keyed, ["abandon", "settle GiveUp"]],
    [
      "it is put away and its endpoint paused, where the receiver is gone",
      attempted(410),
      due,
      ["abandon", "pause the endpoint"]
    ]
  ]
  for (const [what, sent, of, steps] of rows) {
    it.effect(`is acked only after ${what}, whichever write fails`, () =>
      Effect.gen(function* () {
        const runs = yield* failingAtEach(concluded(sent, of))
        assert.deepStrictEqual(runs[0]?.calls, [...steps, "Ack"])
        for (const run of runs) {
          for (const step of steps) assert.isTrue(isAfter(run, "Ack", step), told(run))
          assert.deepStrictEqual(run.exit, Exit.succeed(ack), told(run))
        }
        const writes = steps.filter((step) => !step.startsWith("settle"))
        assert.strictEqual(runs.length, 1 + 2 * writes.length)
      })
    )
  }

  it.effect("is neither acked nor handed back while the broker is away", () =>
    Effect.gen(function* () {
      let isAway = true
      const record = recorder()
      const well = recordedPublisher(record)
      const publisher = Publisher.of({
        ...well,
        publishRaw: (...asked) =>
          Effect.suspend(() =>
            isAway ? recordedPublisher(recorder(1)).publishRaw(...asked) : well.publishRaw(...asked)
          )
      })
      const fiber = yield* Effect.forkChild(attemptsOn(record, publisher).conclude(attempted(500)))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(record.calls, [])
      isAway = false
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), ack)
      assert.deepStrictEqual(record.calls, [waiting, "Ack"])
    })
  )

  it.effect("is handed back for a while when the broker refuses to store what follows", () =>
    Effect.gen(function* () {
      const record = recorder()
      const refused = new BusRefused({ operation: "publish", detail: "no permission", code: 0 })
      const publisher = Publisher.of({ ...recordedPublisher(record), publishRaw: () => Effect.fail(refused) })
      assert.deepStrictEqual(yield* attemptsOn(record, publisher).conclude(attempted(500)), nak(5_000))
    })
  )

  it.effect("is logged without the secrets of the fleet, and without those of an endpoint made at run time", () =>
    Effect.gen(function* () {
      const { conclude, logged } = attemptsOn(recorder())
      const own = (text: string) => text.replaceAll("of its own", "<redacted>")
      const madeAtRunTime = { isEnabled: true, startsAfter: 0, formersLast: 0, redact: own }
      yield* conclude(attempted(500, "a key of its own, a key of the fleet"), due, { ...endpoint, madeAtRunTime })
      assert.deepStrictEqual(
        logged.map(({ responseBody }) => responseBody),
        ["a key <redacted>, a key [secret]"]
      )
    })
  )
})

it.effect("a delivery that is put off twice is stored twice: the broker drops what comes under one id", () =>
  Effect.gen(function* () {
    const ids = new Set<string | undefined>()
    const well = recordedPublisher(recorder())
    const publisher = Publisher.of({
      ...well,
      publishRaw: (subject, data, options) => {
        ids.add(options?.messageId)
        return well.publishRaw(subject, data, options)
      }
    })
    const { postpone } = attemptsOn(recorder(), publisher)
    for (const untilMs of [1_000, 2_000]) assert.deepStrictEqual(yield* postpone(untilMs), ack)
    assert.strictEqual(ids.size, 2)
  })
)
