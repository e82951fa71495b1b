/** The ways of docs/runbooks.md from an alert to the faulty thing and its mending, on real parts. */
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { commandsHere, emptyHome, objectsIn, type Ran, runHere } from "../../../support/command.ts"
import { reject, withConsole } from "../../../support/console.ts"
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

/** An address at which nobody answers any more. */
const goneUrl = Effect.promise(async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
})

describe("the doctor", () => {
  it.live("reads the processes of the fleet in its home where the console does not answer", () =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      const [console, metrics] = [yield* goneUrl, yield* goneUrl]
      writeFileSync(join(home, "ready.json"), JSON.stringify({ console, token: "stl_x", metrics }))
      const lost = yield* runHere(["doctor"], {
        STARLING_HOME: home,
        STARLING_TOKEN: undefined,
        STARLING_CONSOLE: undefined
      })
      assert.strictEqual(lost.code, 1)
      assert.include(lost.out, "! console: the console was not read")
      assert.include(lost.out, `✗ StarlingPodDown: The process ${new URL(metrics).host} does not answer`)
      assert.include(lost.out, "docs/runbooks.md#starlingpoddown")
    }).pipe(Effect.scoped)
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
            const abandoned = Effect.map(run(words("starling abandoned list --json")), (ran) => objectsIn(good(ran)))
            yield* eventually(abandoned, { is: (all) => all.length > 0 })
            const [one, ...others] = yield* abandoned
            assert.isEmpty(others)
            assert.deepInclude(one, { endpoint: "shop", event: "queue.paused", lastStatus: 503 })
            const shown = good(yield* run(words(`starling abandoned show ${String(one?.["sequence"])}`)))
            assert.include(shown.out, `deliveryId: ${String(one?.["deliveryId"])}`)
            receiver.answer("/shop", () => 204)
            const sent = good(yield* run(words("starling abandoned resend --endpoint shop")))
            assert.strictEqual(sent.out, "1 delivery on the way again\n")

            yield* arrived(receiver, "/shop", 2)
            const [, again] = requestsTo(receiver, "/shop")
            assert.strictEqual(again?.headers["x-service-redrive-of"], one?.["deliveryId"])
            yield* eventually(abandoned, { is: (all) => all.length === 0 })
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
            const rejected = Effect.map(run(words("starling rejected list --json")), (ran) => objectsIn(good(ran)))
            yield* eventually(rejected, { is: (all) => all.length > 0 })
            const [one] = yield* rejected
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
            assert.isEmpty(yield* rejected)
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
