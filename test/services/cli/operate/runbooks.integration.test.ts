/** The ways of docs/runbooks.md from an alert to the faulty thing and its mending, on real parts. */
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { HttpListener } from "#http"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { commandsHere, emptyHome, objectsIn, type Ran, runHere } from "../../../support/command.ts"
import { reject, tokenOf, withConsole } from "../../../support/console.ts"
import { whileDispatching } from "../../../support/dispatcher.ts"
import { startReceiver } from "../../../support/receiver.ts"
import { arrived, publish, requestsTo } from "../../../support/webhooks.ts"

const good = (ran: Ran) => {
  assert.strictEqual(ran.code, 0, ran.error)
  return ran
}

const words = (line: string) => line.split(" ").slice(1)

/** Publishes an envelope with a field that breaks its schema. */
const publishBroken = Effect.gen(function* () {
  const example = exampleEnvelope("queue.paused") ?? {}
  const bytes = new TextEncoder().encode(JSON.stringify({ ...example, occurredAt: "yesterday" }))
  yield* (yield* Publisher).publishRaw(subjects.event("queue.paused"), bytes)
})

/** A process of a fleet that says this of its readiness, and its address. */
const processSaying = (checks: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((_, response) => response.writeHead(503).end(JSON.stringify({ ok: false, checks })))
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      return { url: `http://127.0.0.1:${port}`, server }
    }),
    ({ server }) => Effect.sync(() => void server.close())
  )

describe("the doctor", () => {
  it.live("reads the processes of the fleet in its home, and names those that are not ready or gone", () =>
    withConsole(() =>
      Effect.gen(function* () {
        const { url } = yield* HttpListener
        const home = yield* emptyHome
        const token = yield* tokenOf("viewer")
        const doctorOf = (metrics: string) => {
          writeFileSync(join(home, "ready.json"), JSON.stringify({ console: url, token, metrics }))
          return runHere(["doctor"], { STARLING_HOME: home, STARLING_TOKEN: undefined, STARLING_CONSOLE: undefined })
        }
        const sick = yield* processSaying({ start: "ok", bus: "the broker cannot be reached" })
        const ill = yield* doctorOf(sick.url)
        assert.strictEqual(ill.code, 1)
        assert.include(ill.out, "is not ready: bus: the broker cannot be reached")
        assert.include(ill.out, "docs/runbooks.md#starlingbusdisconnected")
        const gone = yield* Effect.scoped(processSaying({}))
        const lost = yield* doctorOf(gone.url)
        assert.strictEqual(lost.code, 1)
        assert.include(lost.out, `the process at ${gone.url} does not answer`)
        const well = yield* processSaying({ start: "ok" })
        const healthy = yield* doctorOf(well.url)
        assert.deepStrictEqual([healthy.code, healthy.error], [0, ""])
        assert.match(healthy.out, /^✓ conditions\n✓ processes\n[^]*nothing is wrong\n$/u)
      })
    )
  )
})

describe("the way from an alert to its mending", () => {
  it.live("on abandoned deliveries takes three commands: which, why, and send again", () =>
    withConsole((_call, server) =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const receiver = yield* startReceiver
        receiver.answer("/shop", () => 503)
        const settings = ["--set", "MaxAttempts=1", "--set", "CircuitBreaker=false"]
        good(yield* run(["endpoints", "add", "shop", receiver.url("/shop"), ...settings]))
        yield* whileDispatching(
          server,
          { endpoints: [] },
          Effect.gen(function* () {
            yield* publish("queue.paused")
            const doctor = Effect.map(run(words("starling doctor")), ({ code, out }) => ({ code, out }))
            yield* eventually(doctor, { is: ({ code }) => code === 1 })
            const ill = yield* doctor
            assert.include(ill.out, "✗ abandoned deliveries: 1 to shop were abandoned")
            assert.include(ill.out, "it answered 503")
            assert.include(ill.out, "./starling abandoned resend --endpoint shop")

            const listed = good(yield* run(words("starling abandoned list --json")))
            const [one, ...others] = objectsIn(listed)
            assert.isEmpty(others)
            assert.deepInclude(one, { endpoint: "shop", event: "queue.paused", lastStatus: 503 })
            const shown = good(yield* run(words(`starling abandoned show ${String(one?.["sequence"])}`)))
            assert.include(shown.out, `deliveryId: ${String(one?.["deliveryId"])}`)
            receiver.answer("/shop", () => 204)
            const sent = good(yield* run(words("starling abandoned resend --endpoint shop")))
            assert.strictEqual(sent.out, "1 deliveries are on their way again\n")

            yield* arrived(receiver, "/shop", 2)
            const [, again] = requestsTo(receiver, "/shop")
            assert.strictEqual(again?.headers["x-service-redrive-of"], one?.["deliveryId"])
            yield* eventually(doctor, { is: ({ code }) => code === 0 })
          })
        )
      })
    )
  )

  it.live("on a rejected message takes three commands: which, why, and discard", () =>
    withConsole((_call, server) =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const receiver = yield* startReceiver
        good(yield* run(["endpoints", "add", "shop", receiver.url("/shop")]))
        yield* whileDispatching(
          server,
          { endpoints: [] },
          Effect.gen(function* () {
            yield* publishBroken
            yield* eventually(run(words("starling doctor")), { is: ({ code }) => code === 1 })
            const [one] = objectsIn(good(yield* run(words("starling rejected list --json"))))
            assert.include(one, { subject: "events.queue.paused" })
            const number = String(one?.["sequence"])
            const shown = good(yield* run(words(`starling rejected show ${number}`)))
            assert.match(shown.out, /path: \/occurredAt\n/u)
            assert.include(shown.out, "yesterday")
            // It would be rejected again: that is said, and it stays.
            const unsent = yield* run(words(`starling rejected resend ${number}`))
            assert.strictEqual(unsent.code, 1)
            assert.include(unsent.error, "still breaks its schema")
            good(yield* run(words(`starling rejected discard ${number}`)))
            const healthy = good(yield* run(words("starling doctor")))
            assert.include(healthy.out, "nothing is wrong")
          })
        )
        assert.isEmpty(requestsTo(receiver, "/shop"))
      })
    )
  )

  it.live("on a message that this release accepts takes three commands: which, why, and publish again", () =>
    withConsole((_call, server) =>
      Effect.gen(function* () {
        const { run } = yield* commandsHere
        const receiver = yield* startReceiver
        good(yield* run(["endpoints", "add", "shop", receiver.url("/shop")]))
        yield* reject(JSON.stringify(exampleEnvelope("queue.paused")))
        yield* whileDispatching(
          server,
          { endpoints: [] },
          Effect.gen(function* () {
            const [one] = objectsIn(good(yield* run(words("starling rejected list --json"))))
            const number = String(one?.["sequence"])
            assert.include(good(yield* run(words(`starling rejected show ${number}`))).out, "message: is missing")
            good(yield* run(words(`starling rejected resend ${number}`)))
            yield* arrived(receiver, "/shop", 1)
            assert.deepStrictEqual(objectsIn(yield* run(words("starling rejected list --json"))), [])
          })
        )
      })
    )
  )
})
