import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { firstSold } from "../../../../services/cli/pay/gateway.ts"

const model = (id: string, ...categories: ReadonlyArray<string>) => ({
  id,
  object: "model",
  created: 0,
  owned_by: "a",
  name: id,
  description: id,
  context_window: 1,
  max_output: 1,
  categories,
  streaming: true,
  billing_mode: "free",
  pricing: { input: 0, output: 0 }
})

/** The address of a gateway that answers `GET /v1/models` so. */
const gatewayWith = (body: unknown) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => {
        response.writeHead(request.url === "/v1/models" ? 200 : 404, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close: () => server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

describe("`pay` without a model", () => {
  it.live("asks the first one for text that the gateway lists", () =>
    Effect.gen(function* () {
      const data = [
        model("a/painter", "image"),
        model("a/vectors", "embedding"),
        model("a/poet", "poems"),
        model("b/c")
      ]
      const { url } = yield* gatewayWith({ object: "list", data })
      assert.strictEqual(yield* firstSold(url), "a/poet")
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["sells none", { object: "list", data: [model("a/painter", "image")] }, "sells no model for text"],
    ["is no gateway", { hello: 1 }, "does not say what it sells; name a model with --model"]
  ] as const)("says in a sentence when who answers %s", ([, body, said]) =>
    Effect.gen(function* () {
      const { url } = yield* gatewayWith(body)
      const refused = yield* Effect.flip(firstSold(url))
      assert.include(refused.message, said)
    }).pipe(Effect.scoped)
  )
})
