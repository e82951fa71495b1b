import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { Publisher } from "#bus"
import { exampleEnvelope, subjects } from "#base"
import { lineLogger } from "#runtime"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { abandoned, abandonments, arrived, eventsTo, publish, requestsTo, setUp } from "../../support/webhooks.ts"

const signatureOf = (secret: string, body: string) =>
  `sha256=${createHmac("sha256", secret).update(Buffer.from(body, "utf8")).digest("hex")}`

/** Published as a service of ours wrote it, spaces and all. */
const publishAsWritten = (text: string) =>
  Effect.flatMap(Publisher, (publisher) =>
    publisher.publishRaw(subjects.event("work_item.failed"), new TextEncoder().encode(text))
  )

describe("a delivery", () => {
  it.live("is a POST to the whole URL, of the very bytes, signed with the endpoint's own secret or not at all", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const environment = { SECRET_ONE: "one", SECRET_TWO: "zwei ü 🐦" }
      const endpoints = [
        { Name: "one", Url: receiver.url("/one?tenant=a%20b"), SecretEnvVar: "SECRET_ONE" },
        { Name: "two", Url: receiver.url("/two"), SecretEnvVar: "SECRET_TWO" },
        { Name: "none", Url: receiver.url("/none") }
      ]
      const said = { eventSchemaVersion: "1.0.3", addition: "ü 🐦 \u2028 </script>" }
      const envelope = { ...exampleEnvelope("work_item.failed"), ...said }
      const text = ` ${JSON.stringify(envelope, null, 2)}\n`
      yield* whileDispatching(
        server,
        { endpoints, environment },
        Effect.gen(function* () {
          yield* publishAsWritten(text)
          for (const path of ["/one?tenant=a%20b", "/two", "/none"]) yield* arrived(receiver, path, 1)
          const secrets = { "/one?tenant=a%20b": "one", "/two": environment.SECRET_TWO, "/none": undefined }
          for (const [path, secret] of Object.entries(secrets)) {
            const [request, ...more] = requestsTo(receiver, path)
            assert.deepStrictEqual([request?.method, more], ["POST", []])
            assert.strictEqual(request?.body, text)
            assert.strictEqual(request?.headers["x-service-schema-version"], "1.0.3", "as the body says")
            const signature = request?.headers["x-service-signature"]
            assert.strictEqual(signature, secret === undefined ? undefined : signatureOf(secret, text))
          }
        })
      )
    })
  )

  it.live("that fails is attempted three times by default, after 1 s and 2 s, each time the same", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer("/a", () => 500)
      yield* whileDispatching(
        server,
        { endpoints: [{ Name: "a", Url: receiver.url("/a"), SecretEnvVar: "SECRET" }], environment: { SECRET: "s" } },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* abandoned(1)
          const requests = requestsTo(receiver, "/a")
          assert.lengthOf(requests, 3)
          const [first = 0, second = 0, third = 0] = requests.map(({ atMs }) => atMs)
          assert.isAtLeast(second - first, 1_000)
          assert.isAtLeast(third - second, 2_000)
          const same = ({ method, body, headers }: (typeof requests)[number]) =>
            JSON.stringify([method, body, headers["x-service-delivery"], headers["x-service-signature"]])
          assert.strictEqual(new Set(requests.map(same)).size, 1)
        })
      )
    })
  )
})

describe("a delivery that is abandoned", () => {
  const lines: Array<string> = []
  const logging = Logger.layer([lineLogger("json", (line) => void lines.push(line))])
  const warnings = () =>
    lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ message }) => String(message).includes("abandoned"))

  it.live("is warned of once, by the endpoint's name, after its last attempt and not before", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const warnedBefore: Array<number> = []
      receiver.answer("/a", () => {
        warnedBefore.push(warnings().length)
        return 503
      })
      const quick = { MaxAttempts: 2, InitialBackoffSeconds: 0.1 }
      const endpoints = [
        { Name: "the first", Url: receiver.url("/a"), ...quick },
        { Name: "the other", Url: receiver.url("/b") }
      ]
      yield* whileDispatching(
        server,
        { endpoints },
        Effect.gen(function* () {
          yield* publish("work_item.merged")
          yield* abandoned(1)
          yield* eventually(() => warnings().length, { is: (length) => length > 0 })
          const delivery = requestsTo(receiver, "/a")[0]?.headers["x-service-delivery"]
          assert.deepStrictEqual(warnedBefore, [0, 0])
          const [warning, ...more] = warnings()
          assert.deepInclude(warning, { level: "WARN", endpoint: "the first", event: "work_item.merged", delivery })
          assert.deepInclude(warning, { attempts: 2, lastStatus: 503 })
          assert.deepStrictEqual(more, [])
          assert.deepInclude((yield* abandonments)[0], { endpoint: "the first", attempts: 2 })
          assert.deepStrictEqual(eventsTo(receiver, "/b"), ["work_item.merged"], "the other one is not concerned")
        })
      )
    }).pipe(Effect.provide(logging))
  )
})
