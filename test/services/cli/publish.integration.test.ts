import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { StreamReader } from "#bus"
import { decodeReport, reportKinds } from "#pipeline/contract"
import { exampleEnvelope, subjects } from "#base"
import { Environment } from "#runtime"
import { publish as publishEvent, publishReport, type ReportOrder } from "../../../services/cli/publish.ts"
import { withBus } from "../../../dev/fixtures/bus.ts"

const folder = mkdtempSync(join(tmpdir(), "starling-publish-"))
afterAll(() => rmSync(folder, { recursive: true }))

const publish = (nats: string, kind: string, changes: Partial<ReportOrder>) =>
  publishReport({ kind, file: undefined, example: false, unchecked: false, count: 1, nats, ...changes }).pipe(
    Effect.provideService(Environment, {})
  )

const storedIn = Effect.fnUntraced(function* (stream: string) {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds(stream)
  const sequences = Array.from({ length: lastSequence }, (_, index) => index + 1)
  return yield* Effect.forEach(sequences, (sequence) =>
    Effect.flatMap(reader.next(stream, sequence), (found) => Effect.fromOption(found))
  )
})
const stored = storedIn("REPORTS")

const read = (data: Uint8Array) => JSON.parse(new TextDecoder().decode(data)) as Record<string, unknown>

describe("publish report", () => {
  it.live("stores the example of every kind, each as a separate report", () =>
    withBus(({ url }) =>
      Effect.gen(function* () {
        const kinds = Object.keys(reportKinds)
        for (const kind of kinds) yield* publish(url, kind, { example: true })

        const messages = yield* stored
        assert.deepStrictEqual(
          messages.map(({ subject }) => subject),
          kinds.map((kind) => subjects.report(kind))
        )
        for (const [index, { data }] of messages.entries()) {
          assert.isTrue(Result.isSuccess(decodeReport(kinds[index] ?? "", read(data))), kinds[index])
        }
        const ids = messages.map(({ data }) => read(data)["reportId"])
        assert.strictEqual(new Set(ids).size, kinds.length)
      })
    ).pipe(Effect.scoped)
  )

  it.live("merges a file into the example, and stores a report with its id once", () =>
    withBus(({ url }) =>
      Effect.gen(function* () {
        const file = join(folder, "report.json")
        const given = { reportId: crypto.randomUUID(), dispatchId: "d-1" }
        writeFileSync(file, JSON.stringify(given))
        yield* publish(url, "preempted", { example: true, file, count: 3 })
        yield* publish(url, "progress", { example: true, count: 3 })

        const reports = (yield* stored).map(({ data }) => read(data))
        assert.deepStrictEqual(
          reports.map(({ kind }) => kind),
          ["preempted", "progress", "progress", "progress"]
        )
        assert.deepInclude(reports[0], given)
      })
    ).pipe(Effect.scoped)
  )
})

describe("publish", () => {
  it.live("lays the fields of a file over the example's, object by object", () =>
    withBus(({ url }) =>
      Effect.gen(function* () {
        const event = "sandbox.leak_detected"
        const example = exampleEnvelope(event) as Readonly<Record<string, object>>
        const file = join(folder, "envelope.json")
        const occurredAt = "2026-05-05T10:00:00.000Z"
        const details = { ...example["details"], diskMb: 40 }
        writeFileSync(file, JSON.stringify({ details: { diskMb: 40 }, occurredAt }))
        const order = { event, file, example: true, unchecked: false, count: 1, nats: url }
        yield* publishEvent(order).pipe(Effect.provideService(Environment, {}))

        const events = (yield* storedIn("EVENTS")).map(({ data }) => read(data))
        assert.deepStrictEqual(events, [{ ...example, details, occurredAt }])
      })
    ).pipe(Effect.scoped)
  )
})
