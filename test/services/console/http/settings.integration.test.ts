import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpListener } from "#http"
import { ConfigurationOrigin } from "#configuration"
import { Secrets } from "#runtime"
import { natsServer } from "../../../../dev/fixtures/bus.ts"
import { codeOf, consoleOn, itemsOf, type Json, tokenOf, withConsole } from "../../../support/console.ts"

const get = Effect.fnUntraced(function* (path: string, token: string) {
  const { url } = yield* HttpListener
  const response = yield* Effect.promise(() =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  )
  return yield* Effect.promise(() => response.text())
})

const cursorIn = (page: string) => (JSON.parse(page) as Json)["nextCursor"] as string | null

describe("the settings on the console", () => {
  it.live("are listed with value, source and reason, by section and in pages", () =>
    withConsole((call) =>
      Effect.gen(function* () {
        const keys: Array<unknown> = []
        let cursor = ""
        do {
          const { body: page, status } = yield* call(`GET /settings?limit=100${cursor}`)
          assert.strictEqual(status, 200)
          keys.push(...itemsOf(page).map(({ key }) => key))
          cursor = page["nextCursor"] === null ? "" : `&cursor=${page["nextCursor"]}`
        } while (cursor !== "")
        assert.isAbove(keys.length, 200)
        assert.strictEqual(new Set(keys).size, keys.length)
        assert.includeMembers(keys, ["Bus.Url", "Console.Port", "Fleet.Roles"])

        const { body } = yield* call("GET /settings?section=Console")
        assert.isTrue(itemsOf(body).every(({ key }) => String(key).startsWith("Console.")))
        const port = itemsOf(body).find(({ key }) => key === "Console.Port")
        assert.deepInclude(port ?? {}, { variable: "CONSOLE_PORT", value: 0, isSet: true, isHidden: false })
        assert.isNotEmpty(port?.["why"])
        assert.lengthOf(itemsOf((yield* call("GET /settings?section=Nobody")).body), 0)
        const wrong = yield* call("GET /settings?limit=0")
        assert.deepStrictEqual([wrong.status, codeOf(wrong.body)], [400, "validation_failed"])
      })
    )
  )

  it.live("show no secret, neither one of a secret key nor one that stands where none belongs", () =>
    Effect.gen(function* () {
      const server = yield* natsServer
      const changes = {
        Bus: { Url: "nats://role:in-the-url@h:4222", Password: "the-password" },
        Telemetry: { OtlpUrl: "https://collector.example/in-the-path" },
        Fleet: { Roles: ["console"] },
        Pipeline: { BaseBranch: "a-key-of-somebody" }
      }
      const origin = Layer.succeed(ConfigurationOrigin, { file: "/etc/starling.json", sources: new Map() })
      const secrets = Layer.effectDiscard(Effect.map(Secrets, ({ add }) => add("a-key-of-somebody")))
      yield* Effect.gen(function* () {
        const first = yield* get("/settings?limit=100", yield* tokenOf("owner"))
        assert.strictEqual((JSON.parse(first) as Json)["file"], "/etc/starling.json")
        const texts = [first]
        const viewer = yield* tokenOf("viewer")
        for (let next = cursorIn(first); next !== null; next = cursorIn(texts.at(-1) ?? "")) {
          texts.push(yield* get(`/settings?limit=100&cursor=${next}`, viewer))
        }
        const text = texts.join("\n")
        for (const secret of ["in-the-url", "the-password", "in-the-path", "a-key-of-somebody"]) {
          assert.notInclude(text, secret)
        }
        assert.include(text, "<redacted>")
        const all = texts.flatMap((page) => itemsOf(JSON.parse(page) as Json))
        const password = all.find(({ key }) => key === "Bus.Password")
        assert.deepInclude(password ?? {}, { value: null, isSet: true, isHidden: true })
      }).pipe(Effect.provide(consoleOn(server, changes).pipe(Layer.provideMerge(secrets), Layer.provideMerge(origin))))
    }).pipe(Effect.scoped)
  )
})
