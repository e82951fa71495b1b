import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { ask, chat, money, withGateway } from "../../../support/gateway.ts"
import { startReceiver } from "../../../support/receiver.ts"

const path = "/v1/images/generations"
const picture = (prompt: string, more = {}) => ({ model: "demo/picture", prompt, ...more })

describe("an image", () => {
  it.live("is made while its caller waits, after payment, and found again by its job", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* ask(gateway, path, picture("a bird"))).status, 402)
        const made = yield* ask(gateway, path, picture("a bird", { n: 2 }), money)
        assert.strictEqual(made.status, 200)
        assert.strictEqual(made.headers.get("payment-response"), "receipt")
        assert.strictEqual((made.body["data"] as ReadonlyArray<unknown>).length, 2)
        assert.deepStrictEqual(
          gateway.payments.calls.map(({ count, prices }) => [count, prices.flatMicroUsd]),
          [[2, 20_000]]
        )

        const job = yield* ask(gateway, `/v1/images/jobs/${made.headers.get("x-image-job")}`, undefined)
        assert.strictEqual(job.status, 200)
        assert.deepInclude(job.body, { status: "completed", model: "demo/picture", data: made.body["data"] })
      })
    )
  )

  it.live("that takes longer than a caller waits is fetched by its job", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const begun = yield* ask(gateway, `/api${path}`, picture("!delay 500ms"), money)
          assert.strictEqual(begun.status, 202)
          assert.deepInclude(begun.body, { status: "in_progress", object: "image.generation.job" })
          const pollUrl = String(begun.body["poll_url"])
          assert.isTrue(pollUrl.startsWith("https://models.example.com/api/v1/images/jobs/img_"))
          const jobPath = new URL(pollUrl).pathname
          yield* eventually(ask(gateway, jobPath, undefined), { is: ({ body }) => body["status"] === "completed" })
          assert.deepStrictEqual(gateway.payments.steps, ["pay", "settle"])
        }),
      { settings: { ImageInlineSeconds: 0.1, Origin: "https://models.example.com/" } }
    )
  )

  it.live("that cannot be made is not charged, and its job gives the reason", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const failed = yield* ask(gateway, path, picture("!content-filter"), money)
        assert.deepStrictEqual([failed.status, failed.body["code"]], [400, "CONTENT_FILTERED"])
        assert.deepStrictEqual(gateway.payments.steps, ["pay", "release"])
        const unknown = yield* ask(gateway, `/v1/images/jobs/img_${"0".repeat(32)}`, undefined)
        assert.deepStrictEqual([unknown.status, unknown.body["code"]], [404, "NOT_FOUND"])
        const chatModel = yield* ask(gateway, path, { model: "demo/echo", prompt: "x" }, money)
        assert.match(String(chatModel.body["error"]), /^Unknown model/u)
      })
    )
  )
})

describe("an image that a conversation names", () => {
  const looking = (url: string) => ({
    model: "demo/echo",
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url, detail: "low" } },
          { type: "text", text: "look" }
        ]
      }
    ]
  })
  const chatPath = "/v1/chat/completions"

  it.live("is fetched once the call is paid, and inserted", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const receiver = yield* startReceiver
          receiver.answer(
            "/a.png",
            () => (response) => response.writeHead(200, { "content-type": "image/png" }).end("PNG")
          )
          receiver.answer(
            "/a.txt",
            () => (response) => response.writeHead(200, { "content-type": "text/plain" }).end("no")
          )

          assert.strictEqual((yield* ask(gateway, chatPath, looking(receiver.url("/a.png")))).status, 402)
          assert.strictEqual(receiver.requests.length, 0)
          assert.strictEqual((yield* ask(gateway, chatPath, looking(receiver.url("/a.png")), money)).status, 200)
          assert.strictEqual(receiver.requests.length, 1)
          assert.include(JSON.stringify(gateway.upstream.calls[0]?.body), '"url":"data:image/png;base64,UE5H"')

          gateway.payments.steps.length = 0
          for (const file of ["/a.txt", "/missing.png"]) {
            const refused = yield* ask(gateway, chatPath, looking(receiver.url(file)), money)
            assert.deepStrictEqual([refused.status, refused.body["code"]], [400, "INVALID_IMAGE_URL"])
          }
          assert.deepStrictEqual(gateway.payments.steps, ["pay", "release", "pay", "release"])
        }),
      { settings: { ImageAllowCidrs: ["127.0.0.0/8"] } }
    )
  )

  it.live("is never fetched from a private address", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver
        for (const url of [receiver.url("/a.png"), "http://[::1]/a.png", "http://169.254.169.254/latest"]) {
          const refused = yield* ask(gateway, chatPath, looking(url), money)
          assert.deepStrictEqual([refused.status, refused.body["code"]], [400, "INVALID_IMAGE_URL"])
        }
        assert.strictEqual(receiver.requests.length, 0)
        assert.strictEqual(gateway.upstream.calls.length, 0)
        const message = chat("x", {
          max_tokens: 5,
          messages: [
            { role: "user", content: [{ type: "image", source: { type: "url", url: "http://10.0.0.1/a.png" } }] }
          ]
        })
        const refused = yield* ask(gateway, "/v1/messages", message, money)
        assert.deepInclude(refused.body["error"] as object, { type: "invalid_request_error" })
      })
    )
  )

  const user = (...content: ReadonlyArray<object>) => ({ messages: [{ role: "user", content }], max_tokens: 5 })
  const input = (...content: ReadonlyArray<object>) => ({ input: [{ role: "user", content }] })
  const addresses = [" https://a.example/1.png", "//a.example/1.png", "file:///etc/passwd", "data:image/png,x"]
  const holders: ReadonlyArray<readonly [path: string, body: (url: string) => object]> = [
    [chatPath, (url) => user({ type: "image_url", image_url: { url } })],
    [chatPath, (url) => user({ type: "image_url", image_url: url })],
    [chatPath, (url) => user({ type: "file", file: { file_data: url } })],
    ["/v1/messages", (url) => user({ type: "image", source: { type: "url", url } })],
    ["/v1/messages", (url) => user({ type: "document", source: { type: "url", url } })],
    ["/v1/responses", (url) => input({ type: "input_image", image_url: url })],
    ["/v1/responses", (url) => input({ type: "input_file", file_url: url })],
    [path, (url) => ({ prompt: "a bird", image_url: url })]
  ]

  it.live("at an address of another kind is refused before any payment, on every route", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [route, body] of holders) {
          for (const model of route === path ? ["demo/picture"] : ["demo/echo", "claude/echo"]) {
            for (const url of addresses) {
              const refused = yield* ask(gateway, route, { model, ...body(url) }, money)
              const context = `${route} ${model} ${url}: ${refused.text}`
              assert.strictEqual(refused.status, 400, context)
              assert.strictEqual(refused.headers.get("x-error-code"), "INVALID_IMAGE_URL", context)
            }
          }
        }
        assert.deepStrictEqual(gateway.payments.steps, [])
        assert.strictEqual(gateway.upstream.calls.length, 0)
      })
    )
  )

  it.live("as a document is fetched too, and no provider ever gets an address", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const receiver = yield* startReceiver
          const types = { "/a.pdf": "application/pdf", "/a.txt": "text/plain; charset=utf-8", "/a.png": "image/png" }
          for (const [file, type] of Object.entries(types)) {
            receiver.answer(file, () => (response) => response.writeHead(200, { "content-type": type }).end("hi"))
          }
          const large = Buffer.alloc(400_000)
          receiver.answer(
            "/large.pdf",
            () => (response) => response.writeHead(200, { "content-type": "application/pdf" }).end(large)
          )
          const document = (file: string) =>
            user({ type: "document", source: { type: "url", url: receiver.url(file) } }, { type: "text", text: "read" })
          for (const model of ["demo/echo", "claude/echo"]) {
            const answers = [
              yield* ask(gateway, "/v1/messages", { model, ...document("/a.pdf") }, money),
              yield* ask(gateway, "/v1/messages", { model, ...document("/a.txt") }, money),
              yield* ask(
                gateway,
                "/v1/responses",
                {
                  model,
                  ...input(
                    { type: "input_file", file_url: receiver.url("/a.pdf") },
                    { type: "input_image", image_url: receiver.url("/a.png") },
                    { type: "input_text", text: "read" }
                  )
                },
                money
              )
            ]
            for (const { status, text } of answers) assert.strictEqual(status, 200, text)
          }
          const sent = JSON.stringify(gateway.upstream.calls.map(({ body }) => body))
          assert.notInclude(sent, receiver.url(""))
          assert.strictEqual(sent.split("aGk=").length - 1, 6)
          assert.strictEqual(gateway.upstream.calls.length, 6)

          // It is priced before it is seen.
          assert.isAbove(gateway.payments.calls[0]?.prompt.textBytes ?? 0, 65_536)
          const refused = yield* ask(gateway, "/v1/messages", { model: "demo/echo", ...document("/large.pdf") }, money)
          assert.strictEqual(refused.headers.get("x-error-code"), "INVALID_IMAGE_URL")
          assert.include(refused.text, "larger than 393216 bytes")
        }),
      { settings: { ImageAllowCidrs: ["127.0.0.0/8"] } }
    )
  )
})
