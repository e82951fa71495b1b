import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { inputTokensOf } from "#payments"
import type { ApiDialect, FileData } from "../../../../services/model-gateway/conversation/Conversation.ts"
import { promptSize } from "../../../../services/model-gateway/conversation/prompt-size.ts"
import { readConversation } from "../../../../services/model-gateway/requests/dialects.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { written } from "../../../support/conversations.ts"
import { diceOf } from "../../../support/random-ssml.ts"

type Dice = ReturnType<typeof diceOf>

/** A conversation whose every text and file has a mark of its own. */
const randomConversation = (dice: Dice) => {
  const marks: Array<string> = []
  const mark = () => {
    const text = `m${marks.length}e`
    marks.push(text)
    return text
  }
  /** In base64, which the writer may not read as a text. */
  const data = () => {
    const base64 = Buffer.from(`file ${marks.length} ${"y".repeat(dice.below(60))}`).toString("base64")
    marks.push(base64)
    return base64
  }
  const dialect = dice.of<ApiDialect>(["chat", "messages", "responses"])
  const some = <A>(least: number, most: number, make: () => A): ReadonlyArray<A> =>
    Array.from({ length: least + dice.below(most - least + 1) }, make)
  const parts: Readonly<Record<ApiDialect, ReadonlyArray<() => JsonObject>>> = {
    chat: [
      () => ({ type: "text", text: mark() }),
      () => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data()}` } }),
      () => ({ type: "file", file: { filename: mark(), file_data: `data:application/pdf;base64,${data()}` } })
    ],
    messages: [
      () => ({ type: "text", text: mark() }),
      () => ({ type: "image", source: { type: "base64", media_type: "image/png", data: data() } }),
      () => ({
        type: "document",
        title: mark(),
        context: mark(),
        source: { type: "base64", media_type: "application/pdf", data: data() }
      }),
      () => ({ type: "document", title: mark(), source: { type: "text", media_type: "text/plain", data: mark() } }),
      () => ({
        type: "document",
        title: mark(),
        source: { type: "content", content: [{ type: "text", text: mark() }] }
      }),
      () => ({
        type: "search_result",
        title: mark(),
        source: mark(),
        content: some(1, 3, () => dice.of(parts.messages.slice(0, 4))())
      }),
      () => ({
        type: "document",
        title: mark(),
        source: { type: "content", content: some(1, 2, () => dice.of(parts.messages.slice(0, 4))()) }
      })
    ],
    responses: [
      () => ({ type: "input_text", text: mark() }),
      () => ({ type: "input_image", image_url: `data:image/png;base64,${data()}` }),
      () => ({ type: "input_file", filename: mark(), file_data: data() })
    ]
  }
  const content = () => (dice.below(3) === 0 ? mark() : some(1, 3, () => dice.of(parts[dialect])()))
  let calls = 0
  const turns: Readonly<Record<ApiDialect, () => ReadonlyArray<JsonObject>>> = {
    chat: () => {
      const id = `c${(calls += 1)}`
      const call = { id, type: "function", function: { name: "look", arguments: JSON.stringify({ at: mark() }) } }
      return dice.of<ReadonlyArray<JsonObject>>([
        [{ role: dice.of(["user", "system", "developer"]), content: content() }],
        [{ role: "assistant", content: mark(), refusal: dice.below(2) === 0 ? mark() : null }],
        [
          { role: "assistant", content: dice.below(2) === 0 ? null : mark(), tool_calls: [call] },
          { role: "tool", tool_call_id: id, content: content() }
        ]
      ])
    },
    messages: () => {
      const id = `c${(calls += 1)}`
      return dice.of<ReadonlyArray<JsonObject>>([
        [{ role: dice.of(["user", "system"]), content: content() }],
        [{ role: "assistant", content: [{ type: "text", text: mark() }] }],
        [
          { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: { at: mark() } }] },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: id, content: content(), is_error: dice.below(2) === 0 },
              ...some(0, 2, () => dice.of(parts.messages)())
            ]
          }
        ]
      ])
    },
    responses: () => {
      const call_id = `c${(calls += 1)}`
      return dice.of<ReadonlyArray<JsonObject>>([
        [{ role: dice.of(["user", "system", "developer"]), content: content() }],
        [
          {
            type: "message",
            role: "assistant",
            content: [
              { type: "output_text", text: mark() },
              { type: "refusal", refusal: mark() }
            ]
          }
        ],
        [
          {
            type: "function_call",
            call_id,
            name: "look",
            namespace: mark(),
            arguments: JSON.stringify({ at: mark() })
          },
          { type: "function_call_output", call_id, output: content() }
        ],
        [
          { type: "custom_tool_call", call_id, name: "patch", input: mark() },
          { type: "custom_tool_call_output", call_id, output: content() }
        ]
      ])
    }
  }
  const list = some(1, 6, turns[dialect]).flat()
  const request: JsonObject = dialect === "responses" ? { input: list, instructions: mark() } : { messages: list }
  // What a branch that was not taken has marked stands nowhere.
  const text = JSON.stringify(request)
  return { dialect, request, marks: marks.filter((each) => text.includes(each)) }
}

describe("any conversation", () => {
  it.prop(
    "is written whole, or refused; and its price is the price of what is written",
    [Schema.Int],
    ([seed]) => {
      const { dialect, request, marks } = randomConversation(diceOf(seed))
      for (const to of ["openai", "anthropic"] as const) {
        for (const parameters of ["common", "openai", "extended"] as const) {
          const options = { to, takes: { parameters, thoughts: "none" as const } }
          const made = written(dialect, request, options)
          if (Result.isFailure(made)) continue
          const { body, files } = made.success
          const text = JSON.stringify(body)
          for (const each of marks) assert.include(text, each, JSON.stringify(request))
          // What is not counted as text stands there, once for each time.
          for (const { base64 } of files) {
            const times = files.filter((file) => file.base64 === base64).length
            assert.strictEqual(text.split(base64).length - 1, times, text)
          }
          const places = files.reduce((sum, { base64 }) => sum + base64.length, 0)
          const pictures = files.filter((file) => file.as === "image")
          const size = promptSize({ body, files }, "m")
          const others = files
            .filter((file) => !pictures.includes(file))
            .reduce((sum, { base64 }) => sum + Math.ceil(base64.length / 8), 0)
          const bytes = Buffer.byteLength(JSON.stringify({ ...body, model: "m" }))
          assert.deepStrictEqual(size, { textBytes: bytes - places + others, images: pictures.length })
          assert.isAbove(inputTokensOf(size), 0)
        }
      }
    },
    { arbitrary: { runs: 400 } }
  )

  it.prop("asks only for the files that it names, wherever they stand", [Schema.Int], ([seed]) => {
    const { dialect, request } = randomConversation(diceOf(seed))
    const web = JSON.parse(
      JSON.stringify(request).replace(/data:image\/png;base64,[A-Za-z0-9+/=]*/gu, "https://a.example/p.png")
    ) as JsonObject
    const { named } = Result.getOrThrow(readConversation(dialect, web))
    const fetched = (): FileData => ({ _tag: "Data", mediaType: "image/png", base64: "RkVUQ0hFRA==" })
    const { body, files } = Result.getOrThrow(written(dialect, web, { to: "openai", fetched }))
    assert.notInclude(JSON.stringify(body), "a.example")
    assert.strictEqual(
      named.length > 0,
      files.some(({ base64 }) => base64 === "RkVUQ0hFRA==")
    )
  })
})
