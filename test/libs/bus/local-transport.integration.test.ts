import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Latch, Layer, Schema, Scope } from "effect"
import { jsonCodec, Mailbox, Nats, localTransport, LocalTransport, Requests } from "#bus"
import { busOn, natsServer } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"

const note = jsonCodec(Schema.Struct({ text: Schema.String }))
const ask = { subject: "ask.me", question: note, answer: note, timeoutMs: 5_000 }

/** A role with its own connection, beside the others with the same local transport. */
const role = (server: TestNatsServer, beside: typeof LocalTransport.Service) =>
  Layer.build(Layer.fresh(busOn(server))).pipe(Effect.provideService(LocalTransport, beside))

const oneProcess = Effect.map(Layer.build(Layer.fresh(localTransport)), (context) =>
  Context.get(context, LocalTransport)
)

/** Answers with its own name, one question at a time. */
const answerAs = (bus: Context.Context<Requests>, name: string, before: Effect.Effect<void> = Effect.void) =>
  Context.get(bus, Requests).answer({
    subject: ask.subject,
    queueGroup: "answerers",
    question: note,
    answer: note,
    concurrency: 1,
    handler: ({ text }) => Effect.as(before, { text: `${name}: ${text}` })
  })

const askFrom = (bus: Context.Context<Requests>, text: string) =>
  Effect.map(Context.get(bus, Requests).ask(ask, { text }), (answer) => answer.text)

/** The broker's traffic on a subject from now on. */
const overheard = Effect.fnUntraced(function* (bus: Context.Context<Nats>, subject: string) {
  const { connection } = Context.get(bus, Nats)
  const heard: Array<string> = []
  connection.subscribe(subject, { callback: (_error, message) => void heard.push(message.string()) })
  yield* Effect.promise(() => connection.flush())
  return {
    /** All traffic on a connection until now. */
    after: (other: Context.Context<Nats>) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => Context.get(other, Nats).connection.flush())
        yield* Effect.promise(() => connection.flush())
        return heard
      })
  }
})

describe("the roles of one process", () => {
  it.live("answer each other without the broker, and ask remote replicas when they are full or gone", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const here = yield* oneProcess
      const [gateway, listener] = [yield* role(server, here), yield* role(server, here)]
      const broker = yield* overheard(listener, ask.subject)
      const beside = yield* Scope.make()
      const verifier = yield* Scope.provide(role(server, here), beside)
      const goOn = yield* Latch.make(true)
      yield* Scope.provide(answerAs(verifier, "beside", goOn.await), beside)

      assert.strictEqual(yield* askFrom(gateway, "one"), "beside: one")
      assert.deepStrictEqual(yield* broker.after(gateway), [])

      // Another process, known to the broker before the request.
      const elsewhere = yield* role(server, yield* oneProcess)
      yield* goOn.close
      const first = yield* Effect.forkChild(askFrom(gateway, "two"), { startImmediately: true })
      yield* answerAs(elsewhere, "elsewhere")
      yield* Effect.promise(() => Context.get(elsewhere, Nats).connection.flush())
      const answers = yield* Effect.forkChild(
        Effect.forEach(["three", "four", "five", "six"], (text) => askFrom(gateway, text), { concurrency: 4 })
      )
      yield* eventually(broker.after(gateway), { is: (heard) => heard.length === 4 })
      yield* goOn.open
      assert.strictEqual(yield* Fiber.join(first), "beside: two")
      for (const answer of yield* Fiber.join(answers)) assert.match(answer, /^(?:beside|elsewhere): \w+$/u)

      yield* Scope.close(beside, Exit.void)
      assert.strictEqual(yield* askFrom(gateway, "seven"), "elsewhere: seven")
    })
  )

  it.live("ask by the broker when their versions of a request differ", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const here = yield* oneProcess
      const [asker, answerer] = [yield* role(server, here), yield* role(server, here)]
      yield* answerAs(answerer, "beside")
      yield* Effect.promise(() => Context.get(answerer, Nats).connection.flush())
      const wrong = jsonCodec(Schema.Struct({ words: Schema.String }))

      const asked = Context.get(asker, Requests).ask({ ...ask, question: wrong }, { words: "no text" })
      const error = yield* Effect.flip(asked)
      assert.strictEqual(error._tag, "BusRefused")
      assert.include(error.message, "text")
    })
  )

  it.live("give up on a silent role of the same process at the timeout", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const here = yield* oneProcess
      const [asker, answerer] = [yield* role(server, here), yield* role(server, here)]
      yield* answerAs(answerer, "never", Effect.never)

      const asked = Context.get(asker, Requests).ask({ ...ask, timeoutMs: 100 }, { text: "one" })
      const error = yield* Effect.flip(asked)
      assert.strictEqual(error._tag, "BusUnavailable")
      assert.include(error.message, "no answer within 100 ms")
    })
  )

  it.live("ask a second time by the broker, so that another process may answer for a silent role", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const here = yield* oneProcess
      const asker = yield* role(server, here)
      const silent = yield* role(server, here)
      yield* answerAs(silent, "never", Effect.never)
      yield* Effect.promise(() => Context.get(silent, Nats).connection.flush())
      const heard = yield* overheard(yield* role(server, yield* oneProcess), ask.subject)

      const asked = Context.get(asker, Requests).ask({ ...ask, timeoutMs: 100, isAgain: true }, { text: "one" })
      yield* Effect.flip(asked)
      assert.strictEqual((yield* heard.after(asker)).length, 1)
    })
  )

  it.live("find their mailboxes without the broker, and keep the mail", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const here = yield* oneProcess
      const [sender, receiver] = [yield* role(server, here), yield* role(server, here)]
      const stranger = yield* role(server, yield* oneProcess)
      const broker = yield* overheard(stranger, ">")
      const mailbox = Context.get(receiver, Mailbox)
      const received: Array<Uint8Array> = []
      yield* mailbox.open("session", (bytes) => void received.push(bytes))

      const desk = Uint8Array.of(1, 2, 3)
      const send = (from: typeof sender) => Context.get(from, Mailbox).send(mailbox.instance, "session", desk)
      send(sender)
      yield* eventually(() => received.length, { is: 1 })
      // Overwritten by its sender, who may do so.
      desk.fill(9)
      assert.deepStrictEqual(received, [Uint8Array.of(1, 2, 3)])
      assert.deepStrictEqual(yield* broker.after(sender), [])

      send(stranger)
      yield* eventually(() => received.length, { is: 2 })
      assert.deepStrictEqual([...(received[1] ?? [])], [9, 9, 9])
    })
  )
})
