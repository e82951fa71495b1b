import { connect as connectSocket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { ack, consume, Kv, Nats, Publisher, Requests, StreamReader } from "#bus"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import { consumer, Note, note, trial } from "./trial.ts"

/** No client library writes these. */
const lines = ["bad key: v", "bad : v", "bad\tkey: v", "bad\0key: v", "b\xe4d: v", ": v", "bad", "bad: a\rb"]
const heads = [...lines.map((line) => `NATS/1.0\r\n${line}\r\n\r\n`), "NATS/1.0 503\r\n\r\n", "NATS/1.0\r\n\r\n"]

/** Publishes to a subject with each head, by hand; ends when the server has them all. */
const publishRaw = (server: TestNatsServer, subject: string, body: string) =>
  Effect.promise(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = connectSocket(server.port, "127.0.0.1")
        const messages = heads.map((head) => {
          const bytes = Buffer.from(head + body, "latin1")
          return Buffer.concat([Buffer.from(`HPUB ${subject} ${head.length} ${bytes.length}\r\n`), bytes, crlf])
        })
        socket.once("error", reject)
        socket.write(Buffer.concat([Buffer.from('CONNECT {"headers":true,"verbose":false}\r\n'), ...messages, ping]))
        socket.on("data", (data) => {
          if (!data.includes("PONG")) return
          socket.destroy()
          resolve()
        })
      })
  )
const crlf = Buffer.from("\r\n")
const ping = Buffer.from("PING\r\n")

const body = JSON.stringify({ text: "hostile" })

describe("messages whose headers no client library can read", () => {
  it.live("hold up nobody who follows, reads, consumes, lists or answers, and break no connection", () =>
    withBus(
      (server) =>
        Effect.gen(function* () {
          const nats = yield* Nats
          const reader = yield* StreamReader
          const bucket = yield* (yield* Kv).open("notes", Note)
          let losses = 0
          yield* Effect.forkScoped(Effect.forever(Effect.tap(nats.lost, () => Effect.sync(() => (losses += 1)))))
          const seen = { followed: 0, consumed: 0, changed: "" }
          yield* Effect.forkScoped(
            Stream.runForEach(reader.follow("SMALL", 1), () => Effect.sync(() => (seen.followed += 1)))
          )
          yield* Effect.forkScoped(
            Stream.runForEach(bucket.changes, ({ key }) => Effect.sync(() => (seen.changed += ` ${key}`)))
          )
          yield* consume({
            consumer,
            codec: note,
            origin: "events",
            handler: () =>
              Effect.as(
                Effect.sync(() => (seen.consumed += 1)),
                ack
              )
          })
          const requests = yield* Requests
          yield* requests.answer({
            subject: "questions.a",
            queueGroup: "a",
            question: note,
            answer: note,
            concurrency: 4,
            handler: ({ text }) => Effect.succeed({ text })
          })

          yield* publishRaw(server, "small.a", "{}")
          yield* publishRaw(server, "work.a", body)
          yield* publishRaw(server, "$KV.notes.hostile", body)
          yield* publishRaw(server, "questions.a", body)
          yield* (yield* Publisher).publish("work.b", note, { text: "last" })
          yield* bucket.create("last", { text: "last" })

          yield* eventually(
            () =>
              seen.followed === heads.length &&
              seen.consumed === heads.length + 1 &&
              seen.changed.includes("hostile") &&
              seen.changed.includes("last")
          )
          const { text } = yield* requests.ask(
            { subject: "questions.a", question: note, answer: note, timeoutMs: 2_000 },
            { text: "still there" }
          )
          assert.strictEqual(text, "still there")
          const stored = yield* Stream.runCollect(reader.range("SMALL", { fromSequence: 1, toSequence: heads.length }))
          assert.lengthOf(stored, heads.length)
          assert.isTrue(Option.isSome(yield* bucket.get("hostile")))
          assert.lengthOf(yield* bucket.entries, 2)
          assert.strictEqual(losses, 0)
        }),
      trial
    )
  )
})
