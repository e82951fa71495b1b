import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  conversationFiles,
  imageRequestFault,
  keyOf,
  type NamedFile,
  parseFileAddress,
  withFiles
} from "../../../../services/model-gateway/requests/conversation-files.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"

const web = "https://a.example/1.png"
const pixel = "data:image/png;base64,AA=="
const pdf = "data:application/pdf;base64,JVBE"

const user = (...content: ReadonlyArray<JsonObject>) => ({ messages: [{ role: "user", content }] })
const input = (...content: ReadonlyArray<JsonObject>) => ({ input: [{ role: "user", content }] })
const image = (source: JsonObject) => ({ type: "image", source })
const document = (source: JsonObject) => ({ type: "document", source })

const read = (request: JsonObject) => Result.getOrThrow(conversationFiles(request))
const refusedAt = (request: JsonObject) => {
  const made = conversationFiles(request)
  return Result.isFailure(made) ? [made.failure.code, made.failure.param] : ["fine"]
}

describe("an address in a conversation", () => {
  it.each([
    ["https://a.example/1.png", "https://a.example/1.png"],
    ["HTTP://A.example:80/b c".replace(" ", "%20"), "http://a.example/b%20c"],
    ["http://a.example/x#y", "http://a.example/x"]
  ])("%s is read as %s", (text, url) => {
    assert.deepStrictEqual(Result.getOrThrow(parseFileAddress(text)), { _tag: "Web", url })
  })

  it.each([
    ["data:image/png;base64,AA==", "image/png", "AA=="],
    ["DATA:Image/PNG;name=x.png;base64,AA\n==", "image/png", "AA=="]
  ])("%s is inline data", (text, mediaType, base64) => {
    assert.deepStrictEqual(Result.getOrThrow(parseFileAddress(text)), { _tag: "Data", mediaType, base64 })
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
    "https://",
    "https://a.example:99999/",
    `https://a.example/${"x".repeat(9_000)}`,
    "data:image/png,abc",
    "data:image/svg+xml,%3Csvg xlink:href='https://a.example/'/%3E",
    "data:;base64,AA==",
    "data:image/png;base64,",
    "data:image/png;base64,http://a.example/",
    " data:image/png;base64,AA==",
    ""
  ])("%j is refused", (text) => {
    assert.isTrue(Result.isFailure(parseFileAddress(text)))
  })
})

describe("the pictures and documents of a conversation", () => {
  const everywhere = {
    messages: [
      { role: "system", content: "Look." },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: web, detail: "low", format: "file:///etc/passwd" } },
          { type: "image_url", image_url: web },
          { type: "text", text: "file:///etc/passwd" },
          image({ type: "url", url: "http://a.example/3.png", media_type: "image/png" }),
          { type: "tool_result", tool_use_id: "t", content: [image({ type: "url", url: web })] },
          { type: "image_url", image_url: { url: pixel } },
          document({ type: "url", url: "https://a.example/a.pdf" }),
          document({ type: "content", content: [image({ type: "base64", media_type: "image/png", data: "AA==" })] }),
          { type: "file", file: { filename: "a.pdf", file_data: "JVBE" } }
        ]
      }
    ],
    input: [
      {
        role: "user",
        content: [
          { type: "input_image", image_url: { url: web }, detail: "high", file_url: "file:///etc/passwd" },
          { type: "input_file", file_url: "https://a.example/b.pdf" }
        ]
      },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_image", image_url: web }] }
    ]
  }
  const named: ReadonlyArray<NamedFile> = [
    { kind: "image", url: web },
    { kind: "image", url: "http://a.example/3.png" },
    { kind: "document", url: "https://a.example/a.pdf" },
    { kind: "document", url: "https://a.example/b.pdf" }
  ]

  it("are each listed once, and inserted at every place, without other changes", () => {
    const files = read(everywhere)
    assert.deepStrictEqual([files.named, [...files.recognised]], [named, ["AA==", "JVBE"]])
    const png = { mediaType: "image/png", base64: "QQ==" }
    const fetched = new Map(
      named.map((file) => [keyOf(file), file.kind === "image" ? png : { mediaType: "text/plain", base64: "aGk=" }])
    )
    const filled = withFiles(files.request, fetched)
    assert.deepStrictEqual(read(filled).named, [])
    const data = "data:image/png;base64,QQ=="
    const source = { type: "base64", media_type: "image/png", data: "QQ==" }
    assert.deepStrictEqual(filled, {
      messages: [
        { role: "system", content: "Look." },
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: data, detail: "low" } },
            { type: "image_url", image_url: { url: data } },
            { type: "text", text: "file:///etc/passwd" },
            { type: "image", source },
            { type: "tool_result", tool_use_id: "t", content: [{ type: "image", source }] },
            { type: "image_url", image_url: { url: pixel } },
            { type: "document", source: { type: "text", media_type: "text/plain", data: "hi" } },
            {
              type: "document",
              source: { type: "content", content: [{ type: "image", source: { ...source, data: "AA==" } }] }
            },
            { type: "file", file: { filename: "a.pdf", file_data: pdf } }
          ]
        }
      ],
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: data, detail: "high" },
            { type: "input_file", filename: "b.pdf", file_data: "data:text/plain;base64,aGk=" }
          ]
        },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_image", image_url: data }] }
      ]
    })
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
      "a screenshot",
      { input: [{ type: "computer_call_output", output: { type: "computer_screenshot", image_url: web } }] },
      "input[0].output.image_url"
    ],
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
    const request = {
      messages: [
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "t", name: "open", input: { url: local, file_id: "f" } }]
        },
        { role: "assistant", tool_calls: [{ id: "c", function: { name: "open", arguments: local } }] },
        { role: "assistant", content: "x", annotations: [{ type: "url_citation", url_citation: { url: web } }] },
        { role: "user", content: [{ type: "text", text: local, citations: [{ url: web }] }] },
        {
          role: "user",
          content: [{ type: "web_search_tool_result", content: [{ type: "web_search_result", url: web }] }]
        }
      ],
      input: [{ type: "function_call", call_id: "c", name: "open", arguments: local }]
    }
    assert.deepStrictEqual(read(request), { request, named: [], recognised: new Set<string>() })
  })

  it.prop("are empty in a conversation without any", [Schema.String], ([text]) => {
    const plain = { messages: [{ role: "user", content: text }], input: text }
    assert.deepStrictEqual(read(plain), { request: plain, named: [], recognised: new Set<string>() })
    assert.deepStrictEqual(withFiles(plain, new Map()), plain)
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
