import { assert, describe, it } from "@effect/vitest"
import { MsgHdrsImpl } from "@nats-io/nats-core/internal"
import type { Msg } from "@nats-io/nats-core"
import { Effect, Stream } from "effect"
import type { Nats } from "#bus"
import { storedMessage, storedOn } from "../../../libs/bus/pages.ts"

const time = "2026-11-29T07:33:52.176108731Z"
const added = ["Nats-Stream: LOG", "Nats-Subject: log.a.b", "Nats-Sequence: 41", `Nats-Time-Stamp: ${time}`]

const answer = (...lines: ReadonlyArray<string>) => {
  const headers = MsgHdrsImpl.decode(Buffer.from(`NATS/1.0${lines.join("\r\n")}\r\n\r\n`))
  return { headers, data: new Uint8Array() } as Pick<Msg, "headers" | "data"> as Msg
}
const read = (...lines: ReadonlyArray<string>) => storedMessage(answer("", ...lines))

describe("a stored message that the broker answers or announces", () => {
  it("has the place and the time that the broker added", () => {
    const found = read(...added)
    assert.deepInclude(found, { subject: "log.a.b", sequence: 41, storedAtMs: Date.parse(time) })
  })

  it("has the first place of a stream too", () => {
    assert.strictEqual(read(...added.slice(0, 2), "Nats-Sequence: 1", ...added.slice(3))?.sequence, 1)
  })

  it("has them also where its publisher set the same headers", () => {
    const found = read("Nats-Sequence: 7", "Nats-Subject: log.x.y", "Nats-Time-Stamp: 1970-01-01T00:00:00Z", ...added)
    assert.deepInclude(found, { subject: "log.a.b", sequence: 41, storedAtMs: Date.parse(time) })
  })

  it("shows of its headers those alone that its publisher set", () => {
    const found = read("traceparent: 00-a", ...added)
    assert.strictEqual(found?.header("traceparent"), "00-a")
    assert.isUndefined(found?.header("Nats-Stream"))
    assert.strictEqual(read("Nats-Stream: EVENTS", ...added)?.header("Nats-Stream"), "EVENTS")
  })

  it("is one also where its publisher stored a status of the broker with it", () =>
    assert.strictEqual(storedMessage(answer(" 408 Request Timeout", ...added))?.sequence, 41))

  it.each([
    ["the end of a page", [" 204 EOB", "Nats-Num-Pending: 0", "Nats-Last-Sequence: 41"]],
    ["a refusal", [" 408 Bad Request"]],
    ["a message without its place", ["", ...added.slice(0, 2)]],
    ["a sequence that no message has", ["", ...added.slice(0, 2), "Nats-Sequence: 0", ...added.slice(3)]],
    ["a sequence that is no number", ["", ...added.slice(0, 2), "Nats-Sequence: x", ...added.slice(3)]]
  ])("is not %s", (_, lines) => assert.isUndefined(storedMessage(answer(...lines))))
})

describe("everything that is stored on a subject", () => {
  interface Question {
    readonly seq: number
    readonly batch: number
    readonly next_by_subj: string
  }

  /** A broker with so many messages, which it gives out page by page; `asked`: where each page began. */
  const broker = (count: number) => {
    const asked: Array<number> = []
    const inboxes = new Map<string, (error: Error | null, message: Msg) => void>()
    const publish = (_subject: string, text: string, { reply }: { readonly reply: string }) => {
      const { seq, batch } = JSON.parse(text) as Question
      asked.push(seq)
      const receive = inboxes.get(reply) ?? assert.fail("nobody hears the answer")
      const last = Math.min(count, seq + batch - 1)
      for (let sequence = seq; sequence <= last; sequence += 1) {
        const place = [...added.slice(0, 2), `Nats-Sequence: ${sequence}`, ...added.slice(3)]
        receive(null, answer("", ...place, `Nats-Num-Pending: ${count - sequence}`))
      }
      receive(null, answer(seq <= count ? " 204 EOB" : " 404 No Results"))
    }
    const connection = {
      subscribe: (inbox: string, { callback }: { readonly callback: (error: Error | null, message: Msg) => void }) => {
        inboxes.set(inbox, callback)
        return { unsubscribe: () => inboxes.delete(inbox) }
      },
      publish
    }
    const nats = {
      connection,
      inboxes: "_INBOX",
      lost: Effect.never,
      whileConnected: (_: string, act: Effect.Effect<unknown>) => act
    } as unknown as Nats["Service"]
    const read = Effect.map(Stream.runCollect(storedOn(nats, "LOG", "log.a")), (all) =>
      all.map(({ sequence }) => sequence)
    )
    return { read, asked, listening: () => inboxes.size }
  }

  for (const [count, pages] of [
    [0, [1]],
    [1, [1]],
    [256, [1]],
    [257, [1, 257]],
    [513, [1, 257, 513]]
  ] as const) {
    it.effect(`is read once and in order, of ${count} messages in ${pages.length} pages`, () =>
      Effect.gen(function* () {
        const { read, asked, listening } = broker(count)
        assert.deepStrictEqual(
          yield* read,
          Array.from({ length: count }, (_, index) => index + 1)
        )
        assert.deepStrictEqual([asked, listening()], [[...pages], 0])
      })
    )
  }
})
