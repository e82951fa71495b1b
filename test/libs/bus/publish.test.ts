import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Nats } from "#bus"
import { batchMessagesMax, writeBatch } from "../../../libs/bus/publish.ts"

const messageOf = (index: number) => ({ subject: `log.${index}`, data: new Uint8Array(0), headers: [] })
const messages = (count: number) => Array.from({ length: count }, (_, index) => messageOf(index))

interface Sent {
  readonly subject: string
  readonly headers: { readonly get: (name: string) => string }
}

/** A broker that stores what is sent. */
const broker = () => {
  const sent: Array<Sent> = []
  const nats = {
    write: (_: string, last: Sent, ahead: ReadonlyArray<Sent>) =>
      Effect.sync(() => {
        sent.push(...ahead, last)
        return { sequence: 7 }
      })
  } as unknown as Nats["Service"]
  return { nats, sent }
}

describe("a batch of messages", () => {
  it.effect("is numbered from one, and committed by its last message", () =>
    Effect.gen(function* () {
      const { nats, sent } = broker()
      assert.strictEqual(yield* writeBatch(nats, "an id", messages(3)), 7)
      assert.deepStrictEqual(
        sent.map(({ subject, headers }) => [
          subject,
          headers.get("Nats-Batch-Id"),
          headers.get("Nats-Batch-Sequence"),
          headers.get("Nats-Batch-Commit")
        ]),
        [
          ["log.0", "an id", "1", ""],
          ["log.1", "an id", "2", ""],
          ["log.2", "an id", "3", "1"]
        ]
      )
    })
  )

  it.effect("has a thousand messages at most, and one at least", () =>
    Effect.gen(function* () {
      const { nats, sent } = broker()
      yield* writeBatch(nats, "an id", messages(batchMessagesMax))
      for (const count of [0, batchMessagesMax + 1]) {
        assert.strictEqual((yield* Effect.flip(writeBatch(nats, "an id", messages(count))))._tag, "BusRefused")
      }
      assert.lengthOf(sent, batchMessagesMax)
    })
  )
})
