/**
 * How each feature of a request reaches each kind of provider. The table is computed by writing an example of each
 * feature, so it shows what the code does. Pure.
 */
import { Result } from "effect"
import { table } from "#http"
import type { ApiDialect } from "./conversation/Conversation.ts"
import { soldTools } from "./conversation/sold-tools.ts"
import type { Takes } from "./conversation/Written.ts"
import { judgedClients, judgedTasks } from "./judged-clients.ts"
import judgedVersions from "./judged-versions.json" with { type: "json" }
import type { ModelRoute } from "./models/ModelRegistry.ts"
import { readConversation, placeholderOf, writtenFor } from "./requests/dialects.ts"
import type { JsonObject } from "./translate/json.ts"
import type { ProviderKind } from "./translate/provider-apis.ts"
import { sealThought } from "./translate/sealed-thought.ts"

/** Included in every example if the provider is to receive it. */
const sign = "sparrow"

export interface Feature {
  readonly name: string
  /** An example in each dialect that has the feature. Without messages it gets a plain question. */
  readonly examples: Partial<Readonly<Record<ApiDialect, JsonObject>>>
  /** One of these appears in the written request if the feature arrived; by default the sign. */
  readonly arrives?: ReadonlyArray<string>
}

const user = (...content: ReadonlyArray<JsonObject>) => ({ messages: [{ role: "user", content }] })
const input = (...content: ReadonlyArray<JsonObject>) => ({ input: [{ role: "user", content }] })
const data = Buffer.from(sign).toString("base64")
const picture = { type: "base64", media_type: "image/png", data }
const file = { type: "base64", media_type: "application/pdf", data }

const called = {
  chat: {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
  },
  messages: { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
  responses: { type: "function_call", call_id: "c", name: "f", arguments: "{}" }
}
const result = (content: unknown) => ({
  messages: [called.messages, { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content }] }]
})
const output = (content: unknown) => ({
  input: [called.responses, { type: "function_call_output", call_id: "c", output: content }]
})
const thinking = (signature: string) => ({
  messages: [
    { role: "assistant", content: [{ type: "thinking", thinking: sign, signature }, ...called.messages.content] }
  ]
})
const thought = (encrypted_content: string) => ({
  input: [{ type: "reasoning", summary: [], encrypted_content }, called.responses]
})
const details = { ...called.chat, reasoning_details: [{ type: "reasoning.text", text: sign, signature: "s" }] }
const functionTool = { type: "function", function: { name: sign, parameters: { type: "object" } } }
const schema = { type: "object", title: sign }
const cache_control = { type: "ephemeral" }

export const features: ReadonlyArray<Feature> = [
  {
    name: "instructions of a developer",
    examples: {
      chat: {
        messages: [
          { role: "developer", content: sign },
          { role: "user", content: "x" }
        ]
      },
      responses: {
        input: [
          { role: "developer", content: sign },
          { role: "user", content: "x" }
        ]
      }
    }
  },
  {
    name: "pictures",
    arrives: [data],
    examples: {
      chat: user({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }),
      messages: user({ type: "image", source: picture }),
      responses: input({ type: "input_image", image_url: `data:image/png;base64,${data}` })
    }
  },
  {
    name: "PDF documents",
    arrives: [data],
    examples: {
      chat: user({ type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${data}` } }),
      messages: user({ type: "document", source: file }),
      responses: input({ type: "input_file", filename: "a.pdf", file_data: data })
    }
  },
  {
    name: "text documents, search results",
    examples: {
      messages: user({ type: "search_result", title: "t", source: "s", content: [{ type: "text", text: sign }] })
    }
  },
  {
    name: "sounds",
    arrives: [data],
    examples: { chat: user({ type: "input_audio", input_audio: { data, format: "wav" } }) }
  },
  { name: "texts of a tool's result", examples: { messages: result(sign), responses: output(sign) } },
  {
    name: "pictures and files of a tool's result",
    arrives: [data],
    examples: {
      messages: result([{ type: "image", source: picture }]),
      responses: output([{ type: "input_image", image_url: `data:image/png;base64,${data}` }])
    }
  },
  {
    name: "thoughts with their seal",
    examples: {
      chat: { messages: [details] },
      messages: thinking("s"),
      responses: thought(sealThought({ _tag: "Signed", text: sign, signature: "s" }))
    }
  },
  {
    name: "thoughts without a seal",
    examples: {
      chat: { messages: [{ ...called.chat, reasoning_content: sign }] },
      messages: thinking(""),
      responses: thought(sealThought({ _tag: "Plain", text: sign }))
    }
  },
  {
    name: "a wish to think",
    arrives: ['"reasoning_effort"', '"budget_tokens"'],
    examples: {
      chat: { reasoning_effort: "medium" },
      messages: { thinking: { type: "enabled", budget_tokens: 2_000 } },
      responses: { reasoning: { effort: "medium" } }
    }
  },
  {
    name: "functions",
    examples: {
      chat: { tools: [functionTool] },
      messages: { tools: [{ name: sign, input_schema: { type: "object" } }] },
      responses: { tools: [{ type: "function", name: sign, parameters: { type: "object" } }] }
    }
  },
  {
    name: "functions in groups",
    examples: {
      responses: {
        tools: [{ type: "namespace", name: "g", tools: [{ type: "function", name: sign, parameters: {} }] }]
      }
    }
  },
  {
    name: "custom tools",
    examples: {
      chat: { tools: [{ type: "custom", custom: { name: sign } }] },
      responses: { tools: [{ type: "custom", name: sign }] }
    }
  },
  {
    name: "the caller's shell",
    arrives: ['"local_shell"'],
    examples: { responses: { tools: [{ type: "local_shell" }] } }
  },
  {
    name: "tools that a provider runs, beside others",
    arrives: ["web_search"],
    examples: {
      chat: { tools: [functionTool, { type: "web_search" }] },
      messages: {
        tools: [
          { name: sign, input_schema: {} },
          { type: "web_search_20250305", name: "web_search" }
        ]
      },
      responses: { tools: [{ type: "function", name: sign }, { type: "web_search" }] }
    }
  },
  {
    name: "a schema for the answer",
    examples: {
      chat: { response_format: { type: "json_schema", json_schema: { name: "a", schema } } },
      messages: { output_config: { format: { type: "json_schema", schema } } },
      responses: { text: { format: { type: "json_schema", name: "a", schema } } }
    }
  },
  {
    name: "marks for the cache",
    arrives: ['"cache_control"'],
    examples: {
      chat: user({ type: "text", text: "x", cache_control }),
      messages: user({ type: "text", text: "x", cache_control })
    }
  },
  { name: "`prompt_cache_key`", examples: { chat: { prompt_cache_key: sign }, responses: { prompt_cache_key: sign } } },
  { name: "`top_k`", arrives: ['"top_k"'], examples: { chat: { top_k: 5 }, messages: { top_k: 5 } } },
  { name: "`seed`", arrives: ['"seed"'], examples: { chat: { seed: 5 } } },
  { name: "`logit_bias`", arrives: ['"logit_bias"'], examples: { chat: { logit_bias: { 1: 5 } } } },
  { name: "several answers", arrives: ['"n":2'], examples: { chat: { n: 2 } } },
  {
    name: "the caller's own user",
    examples: { chat: { user: sign }, messages: { metadata: { user_id: sign } }, responses: { user: sign } }
  },
  {
    name: "keys that nobody knows",
    examples: { chat: { [sign]: 1 }, messages: { [sign]: 1 }, responses: { [sign]: 1 } }
  }
]

interface Column {
  readonly name: string
  readonly kind: ProviderKind
  readonly takes: Takes
}

/** Each kind of provider with its own way of writing requests. */
export const columns: ReadonlyArray<Column> = [
  { name: "`openai`, as OpenAI", kind: "openai", takes: { parameters: "openai", thoughts: "none" } },
  { name: "`openai`, extended", kind: "openai", takes: { parameters: "extended", thoughts: "reasoning_content" } },
  { name: "`openai`, common, reasoner", kind: "openai", takes: { parameters: "common", thoughts: "required" } },
  { name: "`anthropic`", kind: "anthropic", takes: { parameters: "extended", thoughts: "none" } }
]

export type Outcome = "carried" | "left out" | "refused" | "not asked for"

/** The outcome of a feature's example at a provider. */
export const outcomeOf = (
  { arrives = [sign] }: Feature,
  example: JsonObject,
  dialect: ApiDialect,
  column: Column
): Outcome => {
  const question = dialect === "responses" ? { input: "x" } : { messages: [{ role: "user", content: "x" }] }
  const read = Result.flatMap(readConversation(dialect, { ...question, ...example }), ({ conversation }) =>
    soldTools(conversation, [])
  )
  if (Result.isFailure(read)) return "refused"
  const written = writtenFor(read.success.conversation, { outputTokens: 8_192, fetched: placeholderOf })(
    routeOf(column)
  )
  if (Result.isFailure(written)) return "refused"
  const { body, leftOut } = written.success
  const text = JSON.stringify(body)
  if (arrives.some((each) => text.includes(each))) return "carried"
  return leftOut.length + read.success.leftOut.length > 0 ? "left out" : "not asked for"
}

const routeOf = ({ kind, takes }: Column): ModelRoute => ({
  provider: { name: kind, kind, baseUrl: "http://127.0.0.1:1", key: undefined, connectionsMax: 1, takes },
  model: "m",
  maxTokensParameter: "max_tokens",
  cost: { inputPerMillion: undefined, cachedPerMillion: undefined, outputPerMillion: undefined, flat: undefined }
})

const dialects: ReadonlyArray<ApiDialect> = ["chat", "messages", "responses"]

/** One word if all dialects that have the feature have the same outcome. */
const cellOf = (feature: Feature, column: Column): string => {
  const lines = dialects.flatMap((dialect) => {
    const example = feature.examples[dialect]
    return example === undefined ? [] : [{ dialect, outcome: outcomeOf(feature, example, dialect, column) }]
  })
  const [first] = lines
  if (first !== undefined && lines.every(({ outcome }) => outcome === first.outcome)) return first.outcome
  return lines.map(({ dialect, outcome }) => `${dialect}: ${outcome}`).join("; ")
}

interface Passed {
  readonly on: string
  readonly tests: number
  readonly versions: Readonly<Record<string, string>>
}

const passed: Readonly<Record<string, Passed | undefined>> = judgedVersions

const clientRows = () =>
  judgedClients.map(({ name, title, dialects: spoken, ways, tasks, only = {} }) => [
    title,
    versionsOf(passed[name]),
    spoken.join(", "),
    ways.join(", "),
    tasks.map((task) => (only[task] === undefined ? task : `${task} by ${only[task].join(" and ")}`)).join(", ")
  ])

const versionsOf = (record: Passed | undefined) =>
  record === undefined
    ? "never yet"
    : `${Object.entries(record.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", ")} on ${record.on}, ${record.tests} tests`

export const compatibilityPage = (): string => {
  const rows = features.map((feature) => [
    feature.name,
    dialects.filter((dialect) => feature.examples[dialect] !== undefined).join(", "),
    ...columns.map((column) => cellOf(feature, column))
  ])
  return (
    [
      "# Dialects and providers",
      "Every dialect can be asked of every provider: a request is read into one conversation, and written as the provider takes it. This table is made by `./starling docs`, which writes an example of each feature. *Carried*: the provider gets it, in its own words. *Left out*: `X-Starling-Left-Out` names it. *Refused*: `INVALID_PARAMETER` by its place, before the quote. *Not asked for*: the provider has no use for it, and nothing is charged for it.",
      "What an `openai` provider takes is said by `Parameters` and `Thoughts` of its entry ([settings.md](settings.md)), or follows from its host.",
      table(["feature", "in dialects", ...columns.map(({ name }) => name)], rows),
      "## Clients",
      "`./starling test --judges` has the newest clients of others, unmodified, do the whole work of an agent on a model of each column: given away (*free*), paid by `./starling payer` (*exact*, *upto*), and paid by the client itself, with x402's own packages in its `fetch` (*own*). A row is what the tests of a client ask; the versions are those with which all of them passed last. compatcanary's profile `modern` is asked, too. [agents.md](agents.md) says how an agent is configured, and how one pays that knows no x402.",
      table(["client", "passed with", "in dialects", "paid", "does"], clientRows()),
      `What it does: ${Object.entries(judgedTasks)
        .map(([name, says]) => `*${name}*: ${says}`)
        .join("; ")}.`
    ].join("\n\n") + "\n"
  )
}
