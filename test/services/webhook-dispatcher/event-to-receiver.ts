/** A broker, a receiver, and a test's actions at either end: publish, and wait for arrivals. */
import { Effect, Stream } from "effect"
import { Publisher, StreamReader } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { startReceiver, type TestReceiver } from "../../support/receiver.ts"

export const utf8 = new TextEncoder()

export const publish = (event: string, changes: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const publisher = yield* Publisher
    const body = JSON.stringify({ ...exampleEnvelope(event), ...changes })
    const { sequence } = yield* publisher.publishRaw(subjects.event(event), utf8.encode(body))
    return { body, sequence }
  })

export const arrived = (receiver: TestReceiver, count: number, path?: string) =>
  eventually(() => receiver.requests.filter((request) => path === undefined || request.path === path).length, {
    is: (length) => length >= count
  })

export const stream = (name: string) =>
  Effect.gen(function* () {
    const reader = yield* StreamReader
    const { firstSequence, lastSequence } = yield* reader.bounds(name)
    if (lastSequence === 0) return []
    return yield* Stream.runCollect(reader.range(name, { fromSequence: firstSequence, toSequence: lastSequence }))
  })

export const quick = { InitialBackoffSeconds: 0.2, TimeoutSeconds: 1 }

export const setUp = Effect.all({ server: natsServer, receiver: startReceiver })
