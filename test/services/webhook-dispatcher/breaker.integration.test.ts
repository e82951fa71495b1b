import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Consumers } from "#bus"
import { endpointIdOf } from "#webhooks/contract"
import { BreakerLimits } from "../../../services/webhook-dispatcher/endpoint-worker.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import type { TestReceiver } from "../../support/receiver.ts"
import { arrived, attemptRecords, metric, publish, publishMany, requestsTo, setUp } from "../../support/webhooks.ts"

// As always, but in seconds instead of half minutes; the usual limits have tests of their own.
const hasty: BreakerLimits = { failuresToOpen: 5, failingMsToOpen: 500, pauseMsMin: 3_000, pauseMsMax: 6_000 }
// Long enough that much can be sent to forty others meanwhile.
const lasting: BreakerLimits = { ...hasty, pauseMsMin: 8_000, pauseMsMax: 16_000 }

const phases = { closed: 0, halfOpen: 1, open: 2 } as const
const isCircuit = (wanted: keyof typeof phases) =>
  eventually(metric("webhook_circuit_state", 'endpoint="sick"'), { is: (now) => now === phases[wanted] })
const postponed = (reason: string) => metric("webhook_postponed_total", 'endpoint="sick"', `reason="${reason}"`)

const backlog = Effect.gen(function* () {
  return yield* (yield* Consumers).backlog("DELIVERIES", `endpoint-${endpointIdOf("sick")}`)
})

// Attempts after 10, 30, 70, 150, 310, 630 ms: one delivery alone opens the hasty breaker.
const sick = (receiver: TestReceiver) => ({
  Name: "sick",
  Url: receiver.url("/sick"),
  MaxAttempts: 20,
  InitialBackoffSeconds: 0.01,
  Concurrency: 8
})

/** Fails every request until it is ordered to hold the next one, and answers well from then on. */
const patient = (receiver: TestReceiver) => {
  let isWell = false
  const held: Array<ServerResponse> = []
  receiver.answer("/sick", () => {
    if (!isWell) return 500
    return held.length > 0 ? 204 : (response) => void held.push(response)
  })
  return {
    recovers: () => void (isWell = true),
    isProbed: () => held.length === 1,
    answersTheProbe: () => held[0]?.writeHead(204).end()
  }
}

/** How long nothing was sent, each time that this was as long as an open breaker makes it. */
const pausesBetween = (receiver: TestReceiver, { pauseMsMin }: BreakerLimits) => {
  const times = requestsTo(receiver, "/sick").map(({ atMs }) => atMs)
  return times.map((atMs, index) => atMs - (times[index - 1] ?? atMs)).filter((gap) => gap >= pauseMsMin)
}

/** Every attempt that was counted was also made, and each delivery's last one succeeded. */
const noAttemptWasLost = (receiver: TestReceiver, deliveries: number) =>
  Effect.gen(function* () {
    const records = () => Effect.map(attemptRecords, (all) => all.filter(({ endpoint }) => endpoint === "sick"))
    yield* eventually(records(), {
      is: (all) => all.filter(({ outcome }) => outcome === "delivered").length === deliveries
    })
    const made = Map.groupBy(requestsTo(receiver, "/sick"), ({ headers }) => String(headers["x-service-delivery"]))
    assert.strictEqual(made.size, deliveries)
    for (const [id, requests] of made) {
      const counted = (yield* records()).filter(({ deliveryId }) => deliveryId === id).map(({ attempt }) => attempt)
      assert.deepStrictEqual(
        counted,
        requests.map((_, index) => index + 1)
      )
    }
  })

describe("an endpoint that fails repeatedly", () => {
  it.live("is paused at the broker itself, loses no attempt by it, and is served again after one probe", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const health = patient(receiver)
      yield* whileDispatching(
        server,
        { endpoints: [sick(receiver), { Name: "well", Url: receiver.url("/well") }] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* eventually(backlog, { is: ({ pausedUntilMs }) => pausedUntilMs !== null })
          const failed = requestsTo(receiver, "/sick")
          health.recovers()
          yield* isCircuit("open")
          yield* publishMany("work_item.merged", 5)
          yield* arrived(receiver, "/well", 6)

          yield* eventually(health.isProbed)
          const probedAtMs = requestsTo(receiver, "/sick").at(-1)?.atMs ?? 0
          assert.isAtLeast(probedAtMs - (failed.at(-1)?.atMs ?? 0), hasty.pauseMsMin)
          yield* eventually(backlog, { is: ({ unacked, pending }) => unacked === 6 && pending === 0 })
          yield* isCircuit("halfOpen")
          assert.strictEqual(requestsTo(receiver, "/sick").length, failed.length + 1)

          health.answersTheProbe()
          yield* isCircuit("closed")
          yield* noAttemptWasLost(receiver, 6)
          assert.strictEqual(requestsTo(receiver, "/sick").length, failed.length + 6)
        })
      )
    }).pipe(Effect.provideService(BreakerLimits, hasty))
  )

  it.live("is paused twice as long when the probe fails too", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/sick", () => 500)
      yield* whileDispatching(
        server,
        { endpoints: [sick(receiver)] },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* eventually(() => pausesBetween(receiver, hasty).length, { is: 2 })
          const [, second = 0] = pausesBetween(receiver, hasty)
          assert.isAtLeast(second, hasty.pauseMsMin * 2)
        })
      )
    }).pipe(Effect.provideService(BreakerLimits, hasty))
  )

  it.live("stays paused for a dispatcher that starts meanwhile", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/sick", () => 500)
      const endpoints = [sick(receiver)]
      yield* whileDispatching(server, { endpoints }, Effect.andThen(publish("work_item.merged"), isCircuit("open")))
      const failed = requestsTo(receiver, "/sick")
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* isCircuit("open")
          yield* arrived(receiver, "/sick", failed.length + 1)
          const [last = 0, probe = 0] = requestsTo(receiver, "/sick")
            .slice(failed.length - 1)
            .map(({ atMs }) => atMs)
          assert.isAtLeast(probe - last, hasty.pauseMsMin)
        })
      )
    }).pipe(Effect.provideService(BreakerLimits, hasty))
  )

  it.live("shares a partition with others without delaying them, and loses no attempt either", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const health = patient(receiver)
      const neighbours = Array.from({ length: 40 }, (_, index) => ({ Name: `n${index}`, Url: receiver.url("/well") }))
      yield* whileDispatching(
        server,
        { endpoints: [sick(receiver), ...neighbours], delivery: { PartitionsAbove: 0 } },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* isCircuit("open")
          health.recovers()
          const failed = requestsTo(receiver, "/sick")
          yield* publishMany("work_item.merged", 5)
          yield* eventually(postponed("circuit_open"), { is: (count) => count >= 5 })
          yield* arrived(receiver, "/well", 40 * 6)

          yield* eventually(health.isProbed)
          yield* eventually(postponed("full"), { is: (count) => count >= 1 })
          assert.strictEqual(requestsTo(receiver, "/sick").length, failed.length + 1)
          assert.strictEqual(pausesBetween(receiver, lasting).length, 1)
          health.answersTheProbe()
          yield* noAttemptWasLost(receiver, 6)
        })
      )
    }).pipe(Effect.provideService(BreakerLimits, lasting))
  )
})
