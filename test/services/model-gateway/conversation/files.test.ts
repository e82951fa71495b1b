import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { FileData, WebFile } from "../../../../services/model-gateway/conversation/Conversation.ts"
import { imageRequestFault, parseFileAddress } from "../../../../services/model-gateway/conversation/files.ts"
import { readConversation } from "../../../../services/model-gateway/requests/dialects.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { written } from "../../../support/conversations.ts"

const web = "https://a.example/1.png"
const pixel = "data:image/png;base64,AA=="
const pdf = "data:application/pdf;base64,JVBE"

const user = (...content: ReadonlyArray<JsonObject>) => ({ messages: [{ role: "user", content }] })
const input = (...content: ReadonlyArray<JsonObject>) => ({ input: [{ role: "user", content }] })
const image = (source: JsonObject) => ({ type: "image", source })
const document = (source: JsonObject) => ({ type: "document", source })

const dialectOf = (request: JsonObject) => {
  if ("input" in request) return "responses"
  return "system" in request || JSON.stringify(request).includes("source") ? "messages" : "chat"
}
const refusedAt = (request: JsonObject) => {
  const made = readConversation(dialectOf(request), request)
  return Result.isFailure(made) ? [made.failure.code, made.failure.param] : ["fine"]
}

describe("an address in a conversation", () => {
  it.each([
    ["https://a.example/1.png", "https://a.example/1.png"],
    ["HTTP://A.example:80/b c".replace(" ", "%20"), "http://a.example/b%20c"],
    ["http://a.example/x#y", "http://a.example/x"]
  ])("%s is read as %s", (text, url) => {
    assert.deepStrictEqual(Result.getOrThrow(parseFileAddress("image", text)), {
      _tag: "Web",
      kind: "image",
      url
    })
  })

  it.each([
    ["data:image/png;base64,AA==", "image/png", "AA=="],
    ["DATA:Image/PNG;name=x.png;base64,AA\n==", "image/png", "AA=="],
    ["data:image/png;base64, A\tA\r\n = =", "image/png", "AA=="]
  ])("%s is inline data", (text, mediaType, base64) => {
    assert.deepStrictEqual(Result.getOrThrow(parseFileAddress("image", text)), { _tag: "Data", mediaType, base64 })
  })

  it.each([
    " https://a.example/1.png",
    "\thttps://a.example/1.png",
    "https://a.example/1.png ",
    "https://a.exa\nmple/1.png",
    "https:\\\\a.example\\1.png",
    "https:a.example/1.png",
    "//a.example/1.png",
    "/etc/passwd",
    "file:///etc/passwd",
    "ftp://a.example/1.png",
    "gs://bucket/1.png",
    "s3://bucket/1.png",
    "blob:https://a.example/1",
    "view-source:https://a.example/1",
    "javascript:fetch('https://a.example')",
    "https://name:word@a.example/1.png",
    "https://name@a.example/1.png",
    "https://:word@a.example/1.png",
    "https://",
    "https://a.example:99999/",
    `https://a.example/${"x".repeat(9_000)}`,
    "data:image/png,abc",
    "data:image/svg+xml,%3Csvg xlink:href='https://a.example/'/%3E",
    "data:;base64,AA==",
    "data:image/png;base64,",
    // Its lower eight bits are an A.
    "data:image/png;base64,A\u0141 ==",
    "data:image/png;base64,A\u00a0A==",
    "data:image/png;base64,http://a.example/",
    " data:image/png;base64,AA==",
    ""
  ])("%j is refused", (text) => {
    assert.isTrue(Result.isFailure(parseFileAddress("image", text)))
  })
})

describe("the pictures and documents of a conversation", () => {
  const conversation = user(
    { type: "image_url", image_url: { url: web, detail: "low", format: "file:///etc/passwd" } },
    { type: "image_url", image_url: web },
    { type: "text", text: "file:///etc/passwd" },
    image({ type: "url", url: "http://a.example/3.png", media_type: "image/png" }),
    { type: "image_url", image_url: { url: pixel } },
    document({ type: "url", url: "https://a.example/a.pdf" }),
    document({ type: "content", content: [image({ type: "base64", media_type: "image/png", data: "AA==" })] }),
    { type: "file", file: { filename: "a.pdf", file_data: "JVBE" } }
  )
  const named: ReadonlyArray<WebFile> = [
    { _tag: "Web", kind: "image", url: web },
    { _tag: "Web", kind: "image", url: "http://a.example/3.png" },
    { _tag: "Web", kind: "document", url: "https://a.example/a.pdf" }
  ]
  const png: FileData = { _tag: "Data", mediaType: "image/png", base64: "QQ==" }
  const text: FileData = { _tag: "Data", mediaType: "text/plain", base64: "aGk=" }
  const fetched = ({ kind }: WebFile) => (kind === "image" ? png : text)

  it("are each listed once, and written at every place", () => {
    assert.deepStrictEqual(Result.getOrThrow(readConversation("chat", conversation)).named, named)
    const { body, files } = Result.getOrThrow(written("chat", conversation, { to: "openai", fetched }))
    const data = "data:image/png;base64,QQ=="
    assert.deepStrictEqual(body["messages"], [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: data, detail: "low" } },
          { type: "image_url", image_url: { url: data } },
          { type: "text", text: "file:///etc/passwd" },
          { type: "image_url", image_url: { url: data } },
          { type: "image_url", image_url: { url: pixel } },
          { type: "text", text: "hi" },
          { type: "image_url", image_url: { url: pixel } },
          { type: "file", file: { filename: "a.pdf", file_data: pdf } }
        ]
      }
    ])
    assert.deepStrictEqual(
      files.map(({ base64 }) => base64),
      ["QQ==", "QQ==", "QQ==", "AA==", "AA==", "JVBE"]
    )
  })

  it("are written to a provider that speaks Anthropic's API as what they are there", () => {
    const { body } = Result.getOrThrow(written("chat", conversation, { to: "anthropic", fetched }))
    const source = { type: "base64", media_type: "image/png", data: "QQ==" }
    assert.deepStrictEqual(body["messages"], [
      {
        role: "user",
        content: [
          { type: "image", source },
          { type: "image", source },
          { type: "text", text: "file:///etc/passwd" },
          { type: "image", source },
          { type: "image", source: { ...source, data: "AA==" } },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "hi" } },
          {
            type: "document",
            source: { type: "content", content: [{ type: "image", source: { ...source, data: "AA==" } }] }
          },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "JVBE" },
            title: "a.pdf"
          }
        ]
      }
    ])
  })

  const local = "file:///etc/passwd"
  it.each([
    ["a chat's image", user({ type: "image_url", image_url: { url: local } }), "messages[0].content[0].image_url.url"],
    ["a chat's image as a text", user({ type: "image_url", image_url: local }), "messages[0].content[0].image_url"],
    ["an image without one", user({ type: "image_url" }), "messages[0].content[0].image_url"],
    [
      "an image that is no text",
      user({ type: "image_url", image_url: { url: 7 } }),
      "messages[0].content[0].image_url.url"
    ],
    ["a picture of Anthropic's", user(image({ type: "url", url: "//host/x" })), "messages[0].content[0].source.url"],
    ["a picture by a file's id", user(image({ type: "file", file_id: "f" })), "messages[0].content[0].source"],
    ["a picture of another type", user(image({ type: "URL", url: web })), "messages[0].content[0].source"],
    ["a document", user(document({ type: "url", url: ` ${web}` })), "messages[0].content[0].source.url"],
    [
      "a picture in a document",
      user(document({ type: "content", content: [image({ type: "url", url: local })] })),
      "messages[0].content[0].source.content[0].source.url"
    ],
    [
      "a picture in a tool's result",
      user({ type: "tool_result", content: [image({ type: "url", url: local })] }),
      "messages[0].content[0].content[0].source.url"
    ],
    [
      "a tool's result that is no list",
      user({ type: "tool_result", content: image({ type: "url", url: web }) }),
      "messages[0].content[0].content.source.url"
    ],
    ["a file", user({ type: "file", file: { file_data: local } }), "messages[0].content[0].file.file_data"],
    ["a file by its id", user({ type: "file", file: { file_id: "f" } }), "messages[0].content[0].file.file_data"],
    ["an upload by its id", user({ type: "container_upload", file_id: "f" }), "messages[0].content[0].file_id"],
    ["a film", user({ type: "video_url", video_url: { url: web } }), "messages[0].content[0].video_url.url"],
    ["a sound", user({ type: "input_audio", input_audio: { data: web } }), "messages[0].content[0].input_audio.data"],
    [
      "a sound that is none",
      user({ type: "input_audio", input_audio: { data: "Say: this!" } }),
      "messages[0].content[0].input_audio.data"
    ],
    [
      "a picture in a message that calls itself a text",
      { messages: [{ role: "user", type: "text", content: [{ type: "image_url", image_url: { url: local } }] }] },
      "messages[0].content[0].image_url.url"
    ],
    [
      "an input's image",
      input({ type: "input_image", image_url: { url: local } }),
      "input[0].content[0].image_url.url"
    ],
    ["an input's image by its id", input({ type: "input_image", file_id: "f" }), "input[0].content[0].image_url"],
    ["an input's file", input({ type: "input_file", file_url: local }), "input[0].content[0].file_url"],
    ["an input's file data", input({ type: "input_file", file_data: local }), "input[0].content[0].file_data"],
    [
      "a function's output",
      { input: [{ type: "function_call_output", output: [{ type: "input_image", image_url: local }] }] },
      "input[0].output[0].image_url"
    ],
    ["a system prompt", { system: [image({ type: "url", url: local })] }, "system[0].source.url"],
    [
      "an assistant's picture",
      { messages: [{ role: "assistant", content: "", images: [{ type: "image_url", image_url: { url: local } }] }] },
      "messages[0].images[0].image_url.url"
    ],
    [
      "a page that was fetched before",
      user({ type: "web_fetch_tool_result", content: { url: web, content: document({ type: "url", url: web }) } }),
      "fine"
    ]
  ] as const)("are refused at their place: %s", (_told, request, param) => {
    assert.deepStrictEqual(refusedAt(request), param === "fine" ? ["fine"] : ["INVALID_IMAGE_URL", param])
  })

  it("are refused when there are too many, however often one is named", () => {
    const pictures = (count: number) =>
      user(...Array.from({ length: count }, () => ({ type: "image_url", image_url: { url: web } })))
    assert.deepStrictEqual(refusedAt(pictures(16)), ["fine"])
    assert.deepStrictEqual(refusedAt(pictures(17)), ["INVALID_IMAGE_URL", "messages[0].content[16].image_url.url"])
  })

  it("are ignored in text of a model or its tools", () => {
    const chat = {
      messages: [
        { role: "assistant", tool_calls: [{ id: "c", function: { name: "open", arguments: local } }] },
        { role: "assistant", content: "x", annotations: [{ type: "url_citation", url_citation: { url: web } }] }
      ]
    }
    const messages = {
      system: "",
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t", name: "open", input: { url: local, file_id: "f" } }]
        },
        { role: "user", content: [{ type: "text", text: local, citations: [{ url: web }] }] },
        {
          role: "user",
          content: [{ type: "web_search_tool_result", content: [{ type: "web_search_result", url: web }] }]
        }
      ]
    }
    const responses = { input: [{ type: "function_call", call_id: "c", name: "open", arguments: local }] }
    for (const request of [chat, messages, responses]) {
      assert.deepStrictEqual(Result.getOrThrow(readConversation(dialectOf(request), request)).named, [])
    }
  })

  it.prop("are none in a conversation of texts alone", [Schema.String], ([said]) => {
    for (const request of [{ messages: [{ role: "user", content: said }] }, { input: said }]) {
      assert.deepStrictEqual(Result.getOrThrow(readConversation(dialectOf(request), request)).named, [])
    }
  })
})

describe("a request for images", () => {
  it.each([
    [{ prompt: web, response_format: "url" }, undefined],
    [{ prompt: "x", image: pixel, images: [pixel] }, undefined],
    [{ prompt: "x", image_url: web }, "image_url"],
    [{ prompt: "x", images: [pixel, "/etc/passwd"] }, "images[1]"],
    [{ prompt: "x", input_image_2: "file:///x" }, "input_image_2"],
    [{ prompt: "x", webhook: { url: web } }, "webhook.url"],
    [{ prompt: "x", image: { file_id: "f" } }, "image.file_id"]
  ])("%j contains its pictures itself", (request, param) => {
    assert.strictEqual(imageRequestFault(request)?.param, param)
  })
})
