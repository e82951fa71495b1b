/** The Python SDK of CloudEvents, as its makers publish it; the one of JavaScript is asked by the other tests. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { whileDispatching } from "../support/dispatcher.ts"
import { arrived, publish, requestsTo, setUp } from "../support/webhooks.ts"
import { type Installed, pythonEnvironment } from "./client-packages.ts"

interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Parsed = Readonly<Record<string, unknown>>

let sdk: Installed
beforeAll(async () => {
  const found = await pythonEnvironment("cloudevents", ["cloudevents"])
  assert.isObject(found, String(found))
  sdk = found as Installed
})

/** What the SDK says of each line. */
const told = <A>(lines: ReadonlyArray<unknown>) =>
  Effect.callback<ReadonlyArray<A>>((resume) => {
    const python = execFile(
      join(sdk.folder, "bin/python"),
      [join(sdk.folder, "cloud-events.py")],
      (error, out, why) => {
        if (error !== null) resume(Effect.die(new Error(why)))
        else
          resume(
            Effect.succeed(
              out
                .trim()
                .split("\n")
                .map((line) => JSON.parse(line) as A)
            )
          )
      }
    )
    python.stdin?.end(lines.map((line) => JSON.stringify(line)).join("\n"))
  })

const attributes = {
  id: "o-7",
  source: "https://shop.example/orders?a=b%20c",
  type: "order.placed",
  subject: 'order "7" €, 100 %',
  time: "2026-01-02T03:04:05.678000+00:00",
  tenant: "north",
  datacontenttype: "application/json"
}
const data = { total: 12.5, lines: ["é", { sku: null }] }
const events = { Types: [{ Name: "order.placed", Owners: ["internal-services"] }] }

const publishMessage = ({ headers, body }: Message) =>
  Effect.gen(function* () {
    const subject = subjects.eventFrom("internal-services", "order.placed")
    yield* (yield* Publisher).publishRaw(subject, new TextEncoder().encode(body), { headers: Object.entries(headers) })
  })

describe("the Python SDK of CloudEvents", () => {
  it.live("writes what is delivered in every format, and parses that", () =>
    Effect.gen(function* () {
      const [written = []] = yield* told<ReadonlyArray<Message>>([{ write: { attributes, data } }])
      assert.lengthOf(written, 4)
      const { server, receiver } = yield* setUp
      const formats = ["starling", "cloudevents-structured", "cloudevents-binary"]
      const endpoints = formats.map((Format) => ({ Name: Format, Url: receiver.url(`/${Format}`), Format }))
      yield* whileDispatching(
        server,
        { endpoints, events },
        Effect.gen(function* () {
          const sequence = yield* publish("queue.paused")
          for (const message of written) yield* publishMessage(message)
          for (const path of formats) yield* arrived(receiver, `/${path}`, 1 + written.length)
          for (const path of formats.slice(1)) {
            const messages = requestsTo(receiver, `/${path}`).map(({ headers, body }) => ({ parse: { headers, body } }))
            const [own = [], ...orders] = yield* told<ReadonlyArray<Parsed>>(messages)
            for (const event of own) {
              assert.deepInclude(event, { id: String(sequence), source: "/starling", type: "queue.paused" })
              assert.deepStrictEqual(event["data"], exampleEnvelope("queue.paused"))
            }
            for (const [event, earlier] of orders) {
              const { time, source, subject, ...plain } = attributes
              assert.deepInclude(event, { ...plain, source, subject, data })
              assert.strictEqual(Date.parse(String(event?.["time"])), Date.parse(time))
              // The earlier interface, which it keeps beside the other, decodes no header.
              assert.deepInclude(earlier, { ...plain, data })
            }
          }
          for (const { body } of requestsTo(receiver, "/starling").slice(1)) {
            assert.deepInclude(JSON.parse(body), { event: "order.placed", details: data })
          }
        })
      )
    })
  )
})
