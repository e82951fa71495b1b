import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Result, Schema } from "effect"
import { type BatchMessage, type Nats, relayRecordCodec, RevisionConflict, type SourceMessage } from "#bus"
import type { StreamWrite } from "../../../../libs/bus/connection/stream-calls.ts"
import { finishPending, storedCursor, writeStep } from "../../../../libs/bus/relay/cursor.ts"
import { failingAtEach, isAfter, type Recorder, told } from "../../../support/recorder.ts"

const codec = relayRecordCodec(Schema.Struct({ position: Schema.Int }))
const read = (value: unknown) =>
  codec.decode({ data: new TextEncoder().encode(JSON.stringify(value)), header: () => undefined })

describe("a relay's cursor", () => {
  it("is read back with the messages that may be unpublished", () => {
    const record = {
      cursor: { position: 7 },
      pending: [{ subject: "deliveries.due.0.a", headers: [["Nats-Msg-Id", "1"] as const], dataBase64: "AQ==" }]
    }
    const { data } = codec.encode(record)
    assert.deepStrictEqual(codec.decode({ data, header: () => undefined }), Result.succeed(record))
  })

  it("of a stopped relay says so, and other fields are ignored", () => {
    const record = { cursor: { position: 7 }, pending: [], handedOver: true }
    assert.deepStrictEqual(read(record), Result.succeed(record))
    assert.deepStrictEqual(read({ ...record, ofALaterFleet: 1 }), Result.succeed(record))
  })

  it("of an older fleet, a bare sequence, is continued", () => {
    assert.deepStrictEqual(read({ position: 7 }), Result.succeed({ cursor: { position: 7 }, pending: [] }))
  })

  it("is refused with the paths of its faults when it is neither", () => {
    const read7 = read({ cursor: { position: "seven" }, pending: [] })
    assert.deepStrictEqual(Result.isFailure(read7) && read7.failure.map(({ path }) => path), ["/cursor/position"])
  })
})

/** A broker that stores a message of one id once, and a cursor over the one that its writer has seen. */
const brokerOf = ({ call }: Pick<Recorder, "call">) => {
  const stored: Array<string> = []
  let cursor: SourceMessage | undefined
  let sequence = 0
  const write = (_: string, { subject, data, headers }: StreamWrite) =>
    call(
      `write ${subject}`,
      Effect.suspend(() => {
        const isCursor = subject === place.subject
        const expected = Number(headers.get("Nats-Expected-Last-Subject-Sequence"))
        if (isCursor && expected !== (cursor?.sequence ?? 0))
          return Effect.fail(new RevisionConflict({ operation: "write", detail: "a twin was first" }))
        sequence += 1
        if (isCursor) cursor = { subject, sequence, storedAtMs: 0, data, header: () => undefined }
        else if (!stored.includes(subject)) stored.push(subject)
        return Effect.succeed({ stream: "a stream", sequence, duplicate: false })
      })
    )
  const last = () => Effect.sync(() => Option.fromUndefinedOr(cursor))
  return { nats: { write, last } as unknown as Nats["Service"], stored }
}

const place = { stream: "KV_relays", subject: "$KV.relays.trial", codec }
const message = (subject: string): BatchMessage => ({
  subject,
  data: new Uint8Array(1),
  headers: [["Nats-Msg-Id", subject]]
})

describe("a relay's step", () => {
  it.effect("is finished by the next relay, or was not begun, whichever write fails", () =>
    Effect.gen(function* () {
      const step = { messages: ["one", "two", "three"].map(message), cursor: { position: 7 } }
      const runs = yield* failingAtEach(
        Effect.fnUntraced(function* (record) {
          let isNext = false
          const broker = brokerOf({ call: (name, work) => (isNext ? work : record.call(name, work)) })
          yield* Effect.exit(writeStep(broker.nats, place, step, 0))
          isNext = true
          const found = yield* storedCursor(broker.nats, { name: "trial", target: "TRIAL", place } as never)
          if (Option.isSome(found)) yield* finishPending(broker.nats, found.value.record as never)
          return { isBegun: Option.isSome(found), stored: broker.stored.toSorted() }
        })
      )
      assert.strictEqual(runs.length, 9)
      for (const run of runs) {
        for (const { subject } of step.messages)
          assert.isTrue(isAfter(run, `write ${subject}`, `write ${place.subject}`), told(run))
        if (Exit.isFailure(run.exit)) return assert.fail(told(run))
        const { isBegun, stored } = run.exit.value
        assert.deepStrictEqual(stored, isBegun ? ["one", "three", "two"] : [], told(run))
      }
    })
  )
})
