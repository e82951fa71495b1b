import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Stream } from "effect"
import { Webhook } from "standardwebhooks"
import { Consumers, StreamReader } from "#bus"
import { HttpListener, Tokens } from "#http"
import { signBody } from "#webhooks"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import {
  commandsHere,
  emptyHome,
  objectsIn,
  runHere,
  type RunningCommand,
  startCommand
} from "../../../support/command.ts"
import { tokenOf, withConsole } from "../../../support/console.ts"
import { type ReceivedRequest, startReceiver, type TestReceiver } from "../../../support/receiver.ts"
import { arrived, publish, requestsTo, sequencesTo } from "../../../support/webhooks.ts"

const says = (command: RunningCommand, text: string) => eventually(() => command.said().includes(text))

const secretOf = (command: RunningCommand) =>
  /signed with (\S+)/u.exec(command.said())?.[1] ?? assert.fail(command.said())

/** A command that listens, once the console has taken it. */
const listening = (receiver: TestReceiver, ...words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { start } = yield* commandsHere
    const command = yield* start(["listen", "--forward-to", receiver.url("/mine"), ...words])
    yield* says(command, "signed with")
    return command
  })

const sequenceOf = ({ headers }: ReceivedRequest) => Number(headers["x-service-sequence"])

const p95 = (times: ReadonlyArray<number>) => times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? NaN

/** What the fleet keeps for listeners: consumers of events, endpoints, tokens. */
const kept = Effect.gen(function* () {
  const consumers = yield* (yield* Consumers).names("EVENTS")
  return { consumers: consumers.length }
})

describe("listen", () => {
  it.live(
    "brings events to a port in order, signed with its secret, at most 50 ms later than a subscriber has them",
    () =>
      withConsole(() =>
        Effect.gen(function* () {
          const receiver = yield* startReceiver
          const command = yield* listening(receiver, "--filter", "work_item.*", "--json")
          const reader = yield* StreamReader
          const subscribed = new Map<number, number>()
          const { lastSequence } = yield* reader.bounds("EVENTS")
          const direct = yield* Stream.runForEach(reader.follow("EVENTS", lastSequence + 1), ({ sequence }) =>
            Effect.map(Clock.currentTimeMillis, (atMs) => void subscribed.set(sequence, atMs))
          ).pipe(Effect.forkScoped)
          const arrivals = () => new Map(requestsTo(receiver, "/mine").map((each) => [sequenceOf(each), each.atMs]))

          let late = Infinity
          const published: Array<number> = []
          // A busy machine may stop one process for a while: the best of six rounds counts.
          for (let round = 0; round < 6 && late >= 50; round += 1) {
            const sentAt = new Map<number, number>()
            for (let count = 0; count < 100; count += 1) {
              const atMs = yield* Clock.currentTimeMillis
              sentAt.set(yield* publish("work_item.merged"), atMs)
              if (count % 10 === 0) yield* publish("queue.paused")
              yield* Effect.sleep("20 millis")
            }
            published.push(...sentAt.keys())
            yield* arrived(receiver, "/mine", published.length)
            const here = arrivals()
            const p95After = (times: ReadonlyMap<number, number>) =>
              p95([...sentAt].map(([sequence, atMs]) => (times.get(sequence) ?? Infinity) - atMs))
            late = p95After(here) - p95After(subscribed)
            console.info(
              `p95 from publication to the port: ${p95After(here)} ms; to a subscriber: ${p95After(subscribed)} ms`
            )
          }
          assert.isBelow(late, 50)
          yield* Fiber.interrupt(direct)
          assert.deepStrictEqual([...arrivals().keys()], published)

          const secret = secretOf(command)
          const [request] = requestsTo(receiver, "/mine")
          const headers = request?.headers as Record<string, string>
          assert.strictEqual(headers["x-service-signature"], signBody(secret, new TextEncoder().encode(request?.body)))
          const verified = new Webhook(secret).verify(request?.body ?? "", headers) as { readonly event: string }
          assert.strictEqual(verified.event, "work_item.merged")
          command.signal("SIGINT")
          const ran = yield* Effect.promise(() => command.ended)
          assert.strictEqual(ran.code, 130)
          assert.deepInclude(objectsIn(ran)[0], { event: "work_item.merged", status: 204 })
          assert.lengthOf(objectsIn(ran), published.length)
        })
      )
  )

  it.live("makes no consumer, and leaves neither endpoint nor token behind when it is killed", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver
        const tokens = (yield* (yield* Tokens).list).length
        const command = yield* listening(receiver, "--print-body")
        yield* publish("work_item.merged")
        yield* arrived(receiver, "/mine", 1)
        yield* says(command, '"event": "work_item.merged"')
        assert.deepStrictEqual(yield* kept, { consumers: 0 })

        command.signal("SIGKILL")
        yield* Effect.promise(() => command.ended)
        const { messages } = yield* (yield* StreamReader).bounds("KV_webhook-endpoints")
        assert.strictEqual(messages, 0)
        // The command's own token was the test's.
        assert.strictEqual((yield* (yield* Tokens).list).length, tokens + 1)
      })
    )
  )

  it.live("continues after the last event when its connection broke, and tells failures of the port", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver
        receiver.answer("/mine", (nth) => (nth === 2 ? 500 : 204))
        const { url } = yield* HttpListener
        const line = yield* cuttable(Number(new URL(url).port))
        const token = yield* tokenOf("viewer")
        const words = ["listen", "--forward-to", receiver.url("/mine"), "--url", line.url]
        const command = startCommand(words, { STARLING_HOME: yield* emptyHome, STARLING_TOKEN: token })
        yield* says(command, "signed with")
        const first = yield* publish("work_item.merged")
        yield* arrived(receiver, "/mine", 1)
        line.cut()
        yield* says(command, "the connection broke")
        const missed = [yield* publish("work_item.merged"), yield* publish("work_item.merged")]
        line.mend()
        yield* arrived(receiver, "/mine", 3)
        assert.deepStrictEqual(sequencesTo(receiver, "/mine"), [first, ...missed])
        yield* says(command, `#${missed[0]} work_item.merged → 500 in `)
        command.signal("SIGTERM")
        assert.strictEqual((yield* Effect.promise(() => command.ended)).code, 130)
      })
    )
  )

  it.live("is refused without a port of its own, without a console, and to a token that may not read payloads", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const misused = yield* run(["listen", "--forward-to", "localhost:3000"])
        assert.deepStrictEqual([misused.code, misused.error.includes("it is a URL")], [2, true])
        const narrow = yield* tokenOf("member", "pipeline:read")
        const refused = yield* run(["listen", "--forward-to", "http://localhost:9/"], narrow)
        assert.strictEqual(refused.code, 1)
        const nowhere = yield* Effect.scoped(cuttable(1))
        const without = yield* runHere(["listen", "--forward-to", "http://localhost:9/", "--url", nowhere.url], {
          STARLING_TOKEN: "stl_x"
        })
        assert.strictEqual(without.code, 69, without.error)
      })
    )
  )
})

/** A way to a port that can be cut, and mended. */
const cuttable = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const lines = new Set<Socket>()
      let isCut = false
      const server = createServer((near) => {
        if (isCut) return near.destroy()
        const far = connect(port, "127.0.0.1")
        for (const socket of [near, far]) {
          lines.add(socket)
          socket
            .on("error", () => {})
            .on("close", () => {
              lines.delete(socket)
              near.destroy()
              far.destroy()
            })
        }
        near.pipe(far)
        far.pipe(near)
        return undefined
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port: here } = server.address() as AddressInfo
      return {
        url: `http://127.0.0.1:${here}`,
        cut: () => {
          isCut = true
          for (const socket of lines) socket.destroy()
        },
        mend: () => void (isCut = false),
        close: () => server.close()
      }
    }),
    ({ cut, close }) =>
      Effect.sync(() => {
        cut()
        close()
      })
  )
