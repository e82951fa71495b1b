import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import { costlyParameters } from "#gateway/contract"
import { decodeConfiguration } from "#configuration"
import { inputTokensOf, type PromptSize } from "#payments"
import type { ModelRoute, RegisteredModel } from "../../../../services/model-gateway/models/ModelRegistry.ts"
import type { ApiDialect, FileData } from "../../../../services/model-gateway/conversation/Conversation.ts"
import { chatKeys, openAiReadKeys } from "../../../../services/model-gateway/conversation/write-chat.ts"
import { anthropicReadKeys, messagesKeys } from "../../../../services/model-gateway/conversation/write-messages.ts"
import { placeholderOf, writtenFor } from "../../../../services/model-gateway/requests/dialects.ts"
import { type ModelCall, modelCallReader } from "../../../../services/model-gateway/requests/read-call.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import type { ProviderKind } from "../../../../services/model-gateway/translate/provider-apis.ts"
import { takesAll } from "../../../support/conversations.ts"
import { diceOf } from "../../../support/random-ssml.ts"

const kinds: ReadonlyArray<ProviderKind> = ["openai", "anthropic"]
const dialects: ReadonlyArray<ApiDialect> = ["chat", "messages", "responses"]

const entry = Result.getOrThrow(
  decodeConfiguration({
    ModelGateway: {
      Models: [{ Id: "a/b", Free: true, ContextTokens: 10_000_000, Upstreams: [{ Provider: "p", Model: "m" }] }]
    }
  })
).ModelGateway.Models[0]

const routeBy = (kind: ProviderKind, model = "m"): ModelRoute => ({
  provider: {
    name: kind,
    kind,
    baseUrl: "http://127.0.0.1:1",
    key: undefined,
    connectionsMax: 1,
    takes: takesAll
  },
  model,
  maxTokensParameter: "max_tokens",
  cost: { inputPerMillion: undefined, cachedPerMillion: undefined, outputPerMillion: undefined, flat: undefined }
})

const modelBy = (...routes: ReadonlyArray<ModelRoute>): RegisteredModel => ({
  entry: entry ?? assert.fail("no model"),
  family: "a",
  routes
})

const readBy = (model: RegisteredModel) => (dialect: ApiDialect, request: JsonObject) => {
  const bytes = Buffer.from(JSON.stringify(request))
  const body = { bytes, json: JSON.parse(bytes.toString()) as unknown }
  const read = modelCallReader(dialect)(body, {
    find: () => Result.succeed(model),
    http: { header: () => Option.none() }
  })
  return read as Result.Result<ModelCall, { readonly code: string; readonly param?: string }>
}

/** The request as a provider gets it, by the very code that asks it. */
const writtenTo = (route: ModelRoute, call: ModelCall, fetched = placeholderOf) => {
  const written = writtenFor(call.conversation, { outputTokens: call.outputTokens.effective, fetched })(route)
  return Result.map(written, ({ body }) => JSON.stringify({ ...body, model: route.model }))
}

const keysOf: Readonly<Record<ProviderKind, ReadonlySet<string>>> = {
  openai: new Set([...openAiReadKeys, ...chatKeys.extended.sent, "top_k"]),
  anthropic: new Set([...anthropicReadKeys, ...messagesKeys.sent])
}

const pixel = "iVBORw0KGgo="
const pictureUrl = (data: string) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } })
const source = (data: string, mediaType = "image/png") => ({ type: "base64", media_type: mediaType, data })
const user = (content: unknown) => ({ messages: [{ role: "user", content }] })

describe("a prompt", () => {
  const sizeOf = (dialect: ApiDialect, request: JsonObject, kind: ProviderKind = "openai"): PromptSize => {
    const read = readBy(modelBy(routeBy(kind)))(dialect, { model: "a/b", ...request })
    return Result.isSuccess(read) ? read.success.prompt : assert.fail(JSON.stringify(read.failure))
  }
  const tokens = (...of: Parameters<typeof sizeOf>) => inputTokensOf(sizeOf(...of))
  const large = Buffer.from("x".repeat(60_000)).toString("base64")

  it("is measured by what is written to its provider: a short one is small, in every dialect", () => {
    for (const kind of kinds) {
      for (const [dialect, request] of [
        ["chat", user("hello")],
        ["messages", user("hello")],
        ["responses", { input: "hello" }]
      ] as const) {
        assert.isBelow(tokens(dialect, request, kind), 30)
        assert.isAbove(tokens(dialect, { ...request, tools: [] }, kind), 15)
      }
    }
  })

  it("grows by a quarter of each byte of text, in whichever key it is sent", () => {
    for (const more of [{ metadata: { x: large } }, { logit_bias: { [large]: 1 } }]) {
      assert.isAbove(tokens("chat", { ...user("x"), ...more }), 20_000)
    }
    assert.isAbove(tokens("chat", user(large)), 20_000)
    assert.isBelow(tokens("chat", user(large)), 20_050)
  })

  it("has a price of its own for a picture, a PDF and a sound, by what each of them is", () => {
    const file = (mediaType: string) => ({ type: "file", file: { file_data: `data:${mediaType};base64,${large}` } })
    const near = (measured: number, expected: number) => assert.approximately(measured, expected, 80)
    near(tokens("chat", user([pictureUrl(large)])), 1_024)
    near(tokens("chat", user([pictureUrl(large)]), "anthropic"), 1_024)
    near(tokens("messages", user([{ type: "image", source: source(large) }])), 1_024)
    near(tokens("chat", user([{ type: "image", source: source(large) }])), 1_024)
    near(tokens("messages", user([{ type: "image", source: source(large) }]), "anthropic"), 1_024)
    near(tokens("chat", user([file("application/pdf")])), 2_500)
    near(tokens("chat", user([file("application/pdf")]), "anthropic"), 2_500)
    near(tokens("chat", user([{ type: "input_audio", input_audio: { data: large, format: "wav" } }])), 2_500)
    // Text is text, whoever decodes it.
    near(tokens("chat", user([file("text/plain")])), 15_000)
    near(tokens("chat", user([file("text/plain")]), "anthropic"), 15_000)
    near(
      tokens("chat", user([{ ...pictureUrl(""), image_url: { url: `data:image/svg+xml;base64,${large}` } }])),
      15_000
    )
    near(tokens("chat", user([{ ...pictureUrl(""), image_url: { url: `data:text/plain;base64,${large}` } }])), 15_000)
  })

  it("has a place for a file that is fetched later", () => {
    const named = { type: "image_url", image_url: { url: "https://a.example/1.png" } }
    assert.approximately(tokens("chat", user([named])), 1_024, 80)
    const document = { type: "document", source: { type: "url", url: "https://a.example/1.pdf" } }
    for (const kind of kinds) assert.approximately(tokens("messages", user([document]), kind), 16_384, 80)
  })

  const hostile = [
    [
      "a tool's schema",
      "chat",
      { tools: [{ type: "function", function: { name: "f", parameters: { default: pictureUrl(large) } } }] }
    ],
    [
      "a tool's schema",
      "messages",
      { tools: [{ name: "f", input_schema: { default: { type: "image", source: source(large) } } }] }
    ],
    [
      "a tool's input",
      "messages",
      {
        messages: [
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "t", name: "f", input: { type: "image", source: source(large) } }]
          }
        ]
      }
    ],
    ["metadata", "chat", { metadata: { type: "image", text: large } }],
    [
      "a picture's second source",
      "chat",
      user([
        { ...pictureUrl(pixel), image: large },
        { type: "image", text: large }
      ])
    ],
    [
      "a picture in a system prompt",
      "messages",
      {
        system: [
          { type: "image", source: source(large) },
          { type: "text", text: large }
        ]
      }
    ],
    [
      "the schema of an answer",
      "chat",
      { response_format: { type: "json_schema", json_schema: { name: "x", schema: { default: pictureUrl(large) } } } }
    ],
    [
      "arguments of a call",
      "chat",
      {
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "c", type: "function", function: { name: "f", arguments: JSON.stringify(pictureUrl(large)) } }
            ]
          }
        ]
      }
    ],
    [
      "a tool's schema",
      "responses",
      { tools: [{ type: "function", name: "f", parameters: { default: { type: "input_image", image_url: large } } }] }
    ]
  ] as const
  it.each(hostile.map(([where, dialect, request, ...of]) => ({ where, dialect, request, of })))(
    "is text where a picture has no place: $where, in $dialect",
    ({ dialect, request, of }) => {
      for (const kind of of.length === 0 ? kinds : of) {
        const base = { ...user("x"), input: "x" }
        const read = readBy(modelBy(routeBy(kind)))(dialect, { model: "a/b", ...base, ...request })
        // Refused, or left out of what is written: then it costs nothing.
        if (Result.isFailure(read)) assert.strictEqual(read.failure.code, "INVALID_IMAGE_URL")
        else {
          const written = Result.getOrThrow(writtenTo(routeBy(kind), read.success))
          if (written.includes(large)) assert.isAbove(inputTokensOf(read.success.prompt), 20_000)
        }
      }
    }
  )

  it("is as large as for the provider that is written most, and refused only where none can be given it", () => {
    const both = modelBy(routeBy("openai"), routeBy("anthropic", "m".repeat(200)))
    const request = { model: "a/b", ...user("x".repeat(400)) }
    const sizes = kinds.map((kind) => tokens("chat", request, kind))
    const read = Result.getOrThrow(readBy(both)("chat", request))
    assert.isAtLeast(inputTokensOf(read.prompt), Math.max(...sizes))
    const biased = { ...request, logit_bias: { 1: 5 } }
    assert.isTrue(Result.isSuccess(readBy(both)("chat", biased)))
    const refused = readBy(modelBy(routeBy("anthropic")))("chat", biased)
    assert.deepInclude(Result.isFailure(refused) ? { ...refused.failure } : {}, {
      code: "INVALID_PARAMETER",
      param: "logit_bias"
    })
  })

  it("has as many answers as are asked for where the dialect knows more than one", () => {
    const answers = (dialect: ApiDialect, n: number) =>
      Result.map(readBy(modelBy(routeBy("openai")))(dialect, { model: "a/b", ...user("x"), input: "x", n }), (call) => [
        call.answers,
        Result.getOrThrow(writtenTo(routeBy("openai"), call)).includes('"n":')
      ])
    assert.deepStrictEqual(answers("chat", 3), Result.succeed([3, true]))
    for (const n of [3, 200, -5, 1.5]) {
      assert.deepStrictEqual(answers("messages", n), Result.succeed([1, false]))
      assert.deepStrictEqual(answers("responses", n), Result.succeed([1, false]))
    }
  })
})

describe("any conversation, with whatever looks like a picture anywhere", () => {
  it.prop(
    "costs at least what is written without the data of its parts, under no other key",
    [Schema.Int],
    ([seed]) => {
      const { dialect, request, placed } = randomConversation(seed)
      for (const routes of [[routeBy("openai")], [routeBy("anthropic")], [routeBy("openai"), routeBy("anthropic")]]) {
        const read = readBy(modelBy(...routes))(dialect, request)
        if (Result.isFailure(read)) continue
        const call = read.success
        for (const route of routes) {
          const fetched = (): FileData => ({ _tag: "Data", mediaType: "image/jpeg", base64: "QUJD" })
          const written = writtenTo(route, call, fetched)
          if (Result.isFailure(written)) continue
          // The data of a part that has its place are not counted as text, once for each place.
          const data = placed.filter((text) => written.success.includes(text)).join("")
          const named = written.success.split("QUJD").length - 1
          const bytes = Buffer.byteLength(written.success) - data.length - named * "QUJD".length
          assert.isAtLeast(call.prompt.textBytes, bytes, written.success)
          const strange = Object.keys(JSON.parse(written.success) as object).filter(
            (key) => !keysOf[route.provider.kind].has(key)
          )
          assert.deepStrictEqual(strange, [])
        }
      }
    }
  )
})

const randomConversation = (seed: number) => {
  const dice = diceOf(seed)
  const pick = dice.of
  const placed: Array<string> = []
  let nth = 0
  const data = () => Buffer.from(`${(nth += 1)} ${"x".repeat(30 + dice.below(3_000))}`).toString("base64")
  const known: Array<string> = []
  const text = () => pick(["a", 'say "hé"\n', "\u0000\u0001", "𝒳", "x".repeat(dice.below(500))])
  // It looks like a part, and may have the data of a true one.
  const lookalike = (depth = 0): unknown => {
    const content = known.length > 0 && dice.below(2) === 0 ? pick(known) : data()
    return pick<() => unknown>([
      () => pictureUrl(content),
      () => ({ type: "image", source: source(content) }),
      () => ({ type: "input_image", image_url: `data:image/png;base64,${content}` }),
      () => ({ type: "document", source: source(content, "application/pdf") }),
      () => ({ type: "file", file: { file_data: content } }),
      () => ({ type: "image", text: content }),
      () => ({ type: "input_audio", input_audio: { data: content, format: "wav" } }),
      () => (depth > 3 ? text() : { type: "tool_result", content: [lookalike(depth + 1)] }),
      () => (depth > 3 ? text() : { [text()]: [lookalike(depth + 1), lookalike(depth + 1)] })
    ])()
  }
  const place = () => {
    const content = data()
    placed.push(content)
    known.push(content)
    return content
  }
  const web = () => `https://a.example/${dice.below(5)}.png`
  const partOf: Readonly<Record<ApiDialect, ReadonlyArray<() => unknown>>> = {
    chat: [
      () => ({ type: "text", text: text(), annotations: lookalike() }),
      () => ({ ...pictureUrl(place()), text: text() }),
      () => ({ type: "image_url", image_url: { url: web() } }),
      () => ({ type: "file", file: { file_data: `data:application/pdf;base64,${place()}`, filename: text() } }),
      () => ({ type: "input_audio", input_audio: { data: place(), format: "wav" } }),
      () => ({ type: "tool_use", input: lookalike() })
    ],
    messages: [
      () => ({ type: "text", text: text(), citations: [lookalike()] }),
      () => ({ type: "image", source: { ...source(place()), text: text() } }),
      () => ({ type: "image", source: { type: "url", url: web() } }),
      () => ({ type: "document", source: source(place(), "application/pdf"), title: text() }),
      () => ({ type: "document", source: { type: "content", content: [{ type: "image", source: source(place()) }] } }),
      () => ({ type: "thinking", thinking: text(), signature: "s", data: lookalike() })
    ],
    responses: [
      () => ({ type: "input_text", text: text() }),
      () => ({ type: "input_image", image_url: `data:image/png;base64,${place()}` }),
      () => ({ type: "input_image", image_url: web() }),
      () => ({ type: "input_file", filename: text(), file_data: place() }),
      () => ({ type: "output_text", text: text(), annotations: [lookalike()] })
    ]
  }
  const dialect = pick(dialects)
  const some = (most: number, make: (at: number) => unknown) =>
    Array.from({ length: dice.below(most + 1) }, (_, at) => make(at))
  const content = () => (dice.below(3) === 0 ? text() : some(4, () => pick(partOf[dialect])()))
  const call = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: JSON.stringify(lookalike()) } }]
  }
  const turns: Readonly<Record<ApiDialect, ReadonlyArray<() => unknown>>> = {
    chat: [
      () => ({
        role: pick(["user", "system", "assistant"]),
        content: content(),
        ...(dice.below(4) === 0 ? { type: "text", extra: lookalike() } : {})
      }),
      () => ({ role: "tool", tool_call_id: "c", content: content() })
    ],
    messages: [
      () => ({ role: pick(["user", "assistant"]), content: content() }),
      () => ({ role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: { x: lookalike() } }] }),
      () => ({
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c", content: content(), more: lookalike() }]
      })
    ],
    responses: [
      () => ({ role: pick(["user", "assistant", "system"]), content: content(), extra: lookalike() }),
      () => ({ type: "function_call", call_id: "c", name: "f", arguments: JSON.stringify(lookalike()) }),
      () => ({ type: "function_call_output", call_id: "c", output: content() })
    ]
  }
  const first = {
    chat: call,
    messages: { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: lookalike() }] },
    responses: { type: "function_call", call_id: "c", name: "f", arguments: "{}" }
  }[dialect]
  const list = [{ role: "user", content: text() }, first, ...some(5, () => pick(turns[dialect])())]
  const schema = () => ({ type: "object", default: lookalike(), properties: { [text()]: { example: lookalike() } } })
  const tool = {
    chat: () => ({ type: "function", function: { name: "f", parameters: schema() } }),
    messages: () => ({ name: "f", input_schema: schema() }),
    responses: () => ({ type: "function", name: "f", parameters: schema() })
  }[dialect]
  const keys = [
    "metadata",
    "documents",
    "chat_template",
    "guided_json",
    "foo",
    "user",
    "seed",
    "n",
    "store",
    "text",
    "system",
    "instructions",
    "response_format",
    "output_config",
    "thinking",
    "logit_bias",
    "input",
    "prompt",
    "extra_body",
    "stream_options",
    "reasoning",
    "functions",
    "toString",
    ...costlyParameters.slice(0, 2)
  ]
  const more = Object.fromEntries(
    some(3, () => [
      pick(keys),
      pick<() => unknown>([lookalike, () => [lookalike()], text, () => dice.below(9)])()
    ]) as ReadonlyArray<readonly [string, unknown]>
  )
  const main = dialect === "responses" ? { input: list } : { messages: list }
  const request: JsonObject = { model: "a/b", ...more, ...main, tools: some(3, tool), stream: dice.below(2) === 0 }
  return { dialect, request, placed }
}
