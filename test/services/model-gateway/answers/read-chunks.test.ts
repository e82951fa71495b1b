import { assert, describe, it } from "@effect/vitest"
import type { AnswerEvents } from "../../../../services/model-gateway/answers/AnswerEvents.ts"
import { heldCharactersMax } from "../../../../services/model-gateway/answers/call-deltas.ts"
import { chunkReader, readCompletion } from "../../../../services/model-gateway/answers/read-chunks.ts"
import type { JsonObject } from "../../../../services/model-gateway/translate/json.ts"
import { lines } from "./event-lines.ts"

const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
  id: "c1",
  choices: [{ index: 0, delta, finish_reason: reason }]
})

const call = (place: JsonObject, name: string | undefined, input: string | undefined): JsonObject => ({
  tool_calls: [{ ...place, function: { name, arguments: input } }]
})

/** All that is read of some deltas, up to the end that is given last. */
const eventsOf = (deltas: ReadonlyArray<JsonObject>, reason = "stop"): AnswerEvents => {
  const reader = chunkReader("9")
  return [...deltas.map((delta) => chunk(delta)), chunk({}, reason)].flatMap(reader.push).concat(reader.end())
}

const inside = (events: AnswerEvents) => lines(events).slice(1)

describe("the deltas of an OpenAI-like provider", () => {
  it.each<readonly [string, ReadonlyArray<JsonObject>, ReadonlyArray<string>]>([
    [
      "are text, which follows thoughts of any name",
      [
        { role: "assistant", content: "" },
        { reasoning_content: "hm" },
        { reasoning: "m" },
        { content: "a" },
        { content: "b" }
      ],
      ["0 opened Reasoning", "0 + hm", "0 + m", "0 closed", "1 opened Text", "1 + a", "1 + b", "1 closed", "ended stop"]
    ],
    [
      "are thoughts with their seal, which are said twice",
      [
        { reasoning: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
        { reasoning_details: [{ type: "reasoning.text", signature: "s1" }] },
        { reasoning: "oh", reasoning_details: [{ type: "reasoning.text", text: "oh", signature: "s2" }] }
      ],
      [
        "0 opened Reasoning",
        "0 + hm",
        "0 sealed s1",
        "0 closed",
        "1 opened Reasoning",
        "1 + oh",
        "1 sealed s2",
        "1 closed",
        "ended stop"
      ]
    ],
    [
      "are thoughts that only the provider reads",
      [{ reasoning_details: [{ type: "reasoning.encrypted", data: "xyz" }] }, { content: "a" }],
      ["0 opened Encrypted xyz", "0 closed", "1 opened Text", "1 + a", "1 closed", "ended stop"]
    ],
    [
      "are a refusal",
      [{ content: null, refusal: "no" }, { refusal: "!" }],
      ["0 opened Refusal", "0 + no", "0 + !", "0 closed", "ended stop"]
    ],
    [
      "are parts, among them thoughts",
      [
        { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
        { content: [{ type: "text", text: "a" }] }
      ],
      ["0 opened Reasoning", "0 + hm", "0 closed", "1 opened Text", "1 + a", "1 closed", "ended stop"]
    ],
    [
      "are calls that alternate, by their index",
      [
        call({ index: 0, id: "a" }, "f", ""),
        call({ index: 1, id: "b" }, "g", ""),
        call({ index: 0 }, undefined, "{"),
        call({ index: 1 }, undefined, "["),
        call({ index: 0 }, undefined, "}")
      ],
      [
        "0 opened ToolCall a f",
        "1 opened ToolCall b g",
        "0 + {",
        "1 + [",
        "0 + }",
        "0 closed",
        "1 closed",
        "ended calls"
      ]
    ],
    [
      "are calls without an index: a new id is a new call, no id is the last one",
      [
        call({ id: "a" }, "f", "{"),
        call({}, undefined, "}"),
        call({ id: "b" }, "g", "{}"),
        call({ id: "a" }, undefined, " ")
      ],
      [
        "0 opened ToolCall a f",
        "0 + {",
        "0 + }",
        "1 opened ToolCall b g",
        "1 + {}",
        "0 +  ",
        "0 closed",
        "1 closed",
        "ended calls"
      ]
    ],
    [
      "are calls that all have the same index",
      [call({ index: 0, id: "a" }, "f", "{}"), call({ index: 0, id: "b" }, "g", "{}")],
      ["0 opened ToolCall a f", "0 + {}", "1 opened ToolCall b g", "1 + {}", "0 closed", "1 closed", "ended calls"]
    ],
    [
      "are one call whose id is another one each time",
      [call({ index: 0, id: "a" }, "f", "{"), call({ index: 0, id: "b" }, undefined, "}")],
      ["0 opened ToolCall a f", "0 + {", "0 + }", "0 closed", "ended calls"]
    ],
    [
      "are two calls of one id, of which the second gets another",
      [call({ index: 0, id: "a" }, "f", "{}"), call({ index: 1, id: "a" }, "f", "{}")],
      ["0 opened ToolCall a f", "0 + {}", "1 opened ToolCall a_1 f", "1 + {}", "0 closed", "1 closed", "ended calls"]
    ],
    [
      "are a call whose name and id come late, and that is given out with both",
      [call({ index: 0 }, undefined, "{"), call({ index: 0, id: "a" }, undefined, ""), call({ index: 0 }, "f", "}")],
      ["0 opened ToolCall a f", "0 + {}", "0 closed", "ended calls"]
    ],
    [
      "are calls without ids, which get one at the end",
      [call({ index: 0 }, "f", "{}"), call({ index: 1, id: "" }, "g", "{}")],
      [
        "0 opened ToolCall call_c1_0 f",
        "0 + {}",
        "1 opened ToolCall call_c1_1 g",
        "1 + {}",
        "0 closed",
        "1 closed",
        "ended calls"
      ]
    ],
    [
      "are a call of the older form",
      [{ function_call: { name: "f", arguments: "" } }, { function_call: { arguments: "{}" } }],
      ["0 opened ToolCall call_c1_0 f", "0 + {}", "0 closed", "ended calls"]
    ],
    [
      "are a call without arguments, which are an empty object",
      [call({ index: 0, id: "a" }, "f", "")],
      ["0 opened ToolCall a f", "0 + {}", "0 closed", "ended calls"]
    ],
    [
      "are text around a call",
      [{ content: "a" }, call({ index: 0, id: "a" }, "f", "{}"), { content: "b" }],
      [
        "0 opened Text",
        "0 + a",
        "0 closed",
        "1 opened ToolCall a f",
        "1 + {}",
        "2 opened Text",
        "2 + b",
        "1 closed",
        "2 closed",
        "ended calls"
      ]
    ]
  ])("%s", (_, deltas, expected) => {
    assert.deepStrictEqual(inside(eventsOf(deltas)), expected)
  })

  it.each([
    ["stop", "stop"],
    ["length", "length"],
    ["tool_calls", "calls"],
    ["function_call", "calls"],
    ["content_filter", "filtered"],
    ["eos", "stop"]
  ])("end by %s as %s", (reason, expected) => {
    assert.deepStrictEqual(inside(eventsOf([], reason)), [`ended ${expected}`])
  })

  it("end within the part that grew last, where the answer is too long", () => {
    const deltas = [call({ index: 0, id: "a" }, "f", "{}"), call({ index: 1, id: "b" }, "g", "{")]
    assert.deepStrictEqual(inside(eventsOf(deltas, "length")).slice(-3), ["0 closed", "1 closed cut", "ended length"])
  })

  it("show usage wherever it comes", () => {
    const reader = chunkReader("9")
    const usage = { prompt_tokens: 3, completion_tokens: 1 }
    const last = { id: "c1", choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }
    const events = [{ ...chunk({ content: "a" }), usage }, chunk({}, "stop"), last].flatMap(reader.push)
    assert.deepStrictEqual(
      lines(events).filter((text) => text.startsWith("used")),
      ["used 3 1", "used 3 2"]
    )
  })

  it("make no sense with a call that never has a name, nor with one that has too much to hold", () => {
    const nameless = eventsOf([call({ index: 0, id: "a" }, undefined, "{}")])
    assert.deepStrictEqual(nameless.at(-1), { _tag: "Failed", reason: "a call without a name" })
    const reader = chunkReader("9")
    const long = chunk(call({ index: 0 }, undefined, "x".repeat(heldCharactersMax)))
    assert.isFalse(reader.push(long).some(({ _tag }) => _tag === "Failed"))
    assert.isTrue(reader.push(chunk(call({ index: 0 }, undefined, "x"))).some(({ _tag }) => _tag === "Failed"))
  })

  it("may be cut before a name has come, which is not the provider's fault", () => {
    const reader = chunkReader("9")
    reader.push(chunk(call({ index: 0, id: "a" }, undefined, "{}")))
    assert.deepStrictEqual(lines(reader.cut()), ["ended length"])
  })
})

describe("a whole completion", () => {
  it("is read as the same events", () => {
    const message = {
      role: "assistant",
      content: "a",
      reasoning_content: "hm",
      tool_calls: [
        { id: "a", type: "function", function: { name: "f", arguments: '{"b":1}' } },
        { id: "b", type: "function", function: { name: "g", arguments: { c: 2 } } }
      ]
    }
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const answer = { id: "c1", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage }
    assert.deepStrictEqual(lines(readCompletion(answer, "9")), [
      "begun c1",
      "used 3 2",
      "0 opened Reasoning",
      "0 + hm",
      "0 closed",
      "1 opened Text",
      "1 + a",
      "1 closed",
      "2 opened ToolCall a f",
      '2 + {"b":1}',
      "3 opened ToolCall b g",
      '3 + {"c":2}',
      "2 closed",
      "3 closed",
      "ended calls"
    ])
  })

  it("without a choice is empty", () => {
    assert.deepStrictEqual(lines(readCompletion({ choices: [] }, "9")), ["begun undefined", "ended stop"])
  })
})
