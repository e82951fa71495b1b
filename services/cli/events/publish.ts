/**
 * Publishes an event as an internal service would. The envelope comes from a file, from standard input or from the
 * catalogue's example; missing heads (version, name, time) are filled in. It is checked before it is sent, and every
 * fault is named.
 */
import { Effect, Result } from "effect"
import { Publisher } from "#bus"
import { decodeEnvelope, eventSchemaVersion, exampleEnvelope, subjects } from "#contracts"
import { busOf } from "../connection.ts"
import { readJsonObject } from "../files.ts"
import { CommandRefused, print } from "../refusals.ts"
import { noSuchEvent } from "./names.ts"

export interface PublishOrder {
  readonly event: string
  readonly file: string | undefined
  readonly example: boolean
  readonly unchecked: boolean
  readonly count: number
  readonly nats: string | undefined
}

export const publish = Effect.fnUntraced(function* ({ event, file, example, unchecked, count, nats }: PublishOrder) {
  const envelope: Readonly<Record<string, unknown>> = { ...heads(event), ...(yield* given(event, file, example)) }
  if (envelope["event"] !== event) {
    return yield* new CommandRefused({
      reason: `that envelope is of ${String(envelope["event"])}, nothing was sent as ${event}`
    })
  }
  const decoded = decodeEnvelope(envelope)
  if (Result.isFailure(decoded) && !unchecked) {
    const faults = decoded.failure.map(({ path, message }) => `  ${path === "" ? "/" : path}: ${message}`)
    return yield* new CommandRefused({ reason: `the envelope is not good, nothing was sent:\n${faults.join("\n")}` })
  }
  if (Result.isSuccess(decoded) && !decoded.success.known && !unchecked) {
    return yield* new CommandRefused({
      reason: `${noSuchEvent(event)}\nnothing was sent; --unchecked sends it all the same`
    })
  }
  const data = new TextEncoder().encode(JSON.stringify(envelope))
  const send = Effect.gen(function* () {
    const publisher = yield* Publisher
    const one = publisher.publishRaw(subjects.event(event), data)
    const stored = yield* Effect.forEach(Array.from({ length: count }), () => one, { concurrency: 256 })
    yield* print(`published ${event}: stored as ${stored.map(({ sequence }) => sequence).slice(-1)} in EVENTS`)
  })
  yield* send.pipe(Effect.provide(busOf(nats)))
})

const heads = (event: string) => ({ eventSchemaVersion, event, occurredAt: new Date().toISOString() })

const given = Effect.fnUntraced(function* (event: string, file: string | undefined, example: boolean) {
  if (file === undefined) {
    const made = exampleEnvelope(event)
    if (made !== undefined && example) return made
    const reason = example ? noSuchEvent(event) : "what to publish? name a --file, or use --example"
    return yield* new CommandRefused({ reason })
  }
  return yield* readJsonObject(file)
})
