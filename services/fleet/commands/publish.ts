/**
 * `publish <event>`: publishes an event as an internal service would. The envelope comes from --file, from
 * stdin (`--file -`) or from the catalogue's example (--example); missing heads (version, name, time) are
 * filled in. It is checked before it is sent, and every fault is named. `publish report <kind>` sends a report.
 */
import { Effect, Result } from "effect"
import { Publisher } from "#bus"
import { decodeEnvelope, eventSchemaVersion, exampleEnvelope, subjects } from "#contracts"
import { busOf, CommandRefused, print, runCommand } from "./connect.ts"
import { noSuchEvent } from "./event-names.ts"
import { readJsonObject } from "./json-object.ts"
import { readParameters } from "./parameters.ts"
import { publishReport } from "./publish-report.ts"

export const publish = (parameters: ReadonlyArray<string>) => runCommand(publishCommand(parameters))

const publishCommand = Effect.fnUntraced(function* (parameters: ReadonlyArray<string>) {
  const { values, positionals } = yield* read(parameters)
  const [event, kind] = positionals
  const count = yield* countOf(values.count)
  if (event === "report" && positionals.length <= 2) {
    const { file, example, unchecked, nats } = values
    return yield* publishReport(kind, { file, example, unchecked, nats, count })
  }
  if (event === undefined || positionals.length > 1) {
    return yield* new CommandRefused({ reason: "publish takes one event name, such as work_item.merged" })
  }
  const envelope: Readonly<Record<string, unknown>> = {
    ...heads(event),
    ...(yield* given(event, values.file, values.example))
  }
  if (envelope["event"] !== event) {
    return yield* new CommandRefused({
      reason: `that envelope is of ${String(envelope["event"])}, nothing was sent as ${event}`
    })
  }
  const decoded = decodeEnvelope(envelope)
  if (Result.isFailure(decoded) && values.unchecked !== true) {
    const faults = decoded.failure.map(({ path, message }) => `  ${path === "" ? "/" : path}: ${message}`)
    return yield* new CommandRefused({ reason: `the envelope is not good, nothing was sent:\n${faults.join("\n")}` })
  }
  if (Result.isSuccess(decoded) && !decoded.success.known && values.unchecked !== true) {
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
  yield* send.pipe(Effect.provide(busOf(values.nats)))
})

const read = (parameters: ReadonlyArray<string>) =>
  readParameters({
    args: [...parameters],
    allowPositionals: true,
    options: {
      file: { type: "string" },
      example: { type: "boolean" },
      count: { type: "string", default: "1" },
      unchecked: { type: "boolean" },
      nats: { type: "string" }
    }
  })

const countOf = Effect.fnUntraced(function* (text: string) {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 1_000_000) return count
  return yield* new CommandRefused({ reason: "--count is a whole number from 1 to 1000000" })
})

const heads = (event: string) => ({ eventSchemaVersion, event, occurredAt: new Date().toISOString() })

const given = Effect.fnUntraced(function* (event: string, file: string | undefined, example: boolean | undefined) {
  if (file === undefined) {
    const made = exampleEnvelope(event)
    if (made !== undefined && example === true) return made
    const reason = example === true ? noSuchEvent(event) : "what to publish? name a --file, or use --example"
    return yield* new CommandRefused({ reason })
  }
  return yield* readJsonObject(file)
})
