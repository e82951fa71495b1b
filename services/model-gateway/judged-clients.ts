/**
 * Third-party clients that test this gateway: what each does there, and how it pays. `./starling test --judges` runs
 * this list, and the compatibility page is generated from it. Pure.
 */

export const judgedTasks = {
  turns: "reads a file, calls two tools at once, answers from their results",
  picture: "shows the model a picture that a tool gave",
  thought: "returns a thought with its seal",
  full: "says what is wrong, or makes room, where a context is full",
  leaves: "leaves in mid-answer, and goes on"
} as const
export type JudgedTask = keyof typeof judgedTasks

/** `exact` and `upto` are paid by `./starling payer`; `own` ways by x402's packages in the client's `fetch`. */
export const judgedWays = ["free", "exact", "upto", "own exact", "own upto", "own channel"] as const
export type JudgedWay = (typeof judgedWays)[number]

const byPayer: ReadonlyArray<JudgedWay> = ["free", "exact", "upto"]

export interface JudgedClient {
  readonly name: string
  readonly title: string
  readonly kind: "library of JavaScript" | "library of Python" | "agent"
  /** The names on npm, or on PyPI for Python packages. */
  readonly packages: ReadonlyArray<string>
  readonly dialects: ReadonlyArray<string>
  readonly ways: ReadonlyArray<JudgedWay>
  readonly tasks: ReadonlyArray<JudgedTask>
  /** The dialects in which it can do a task, if not all of them. */
  readonly only?: Partial<Readonly<Record<JudgedTask, ReadonlyArray<string>>>>
}

export const dialectsFor = ({ dialects, tasks, only }: JudgedClient, task: JudgedTask): ReadonlyArray<string> =>
  tasks.includes(task) ? (only?.[task] ?? dialects) : []

const all = Object.keys(judgedTasks) as ReadonlyArray<JudgedTask>

const javaScript = { kind: "library of JavaScript", ways: judgedWays, tasks: all } as const
const python = { kind: "library of Python", ways: byPayer, tasks: all } as const
const agent = { kind: "agent", ways: byPayer, tasks: all } as const

export const judgedClients: ReadonlyArray<JudgedClient> = [
  { name: "codex", title: "Codex", packages: ["@openai/codex"], dialects: ["responses"], ...agent },
  { name: "claude", title: "Claude Code", packages: ["@anthropic-ai/claude-code"], dialects: ["messages"], ...agent },
  { name: "opencode", title: "opencode", packages: ["opencode-ai"], dialects: ["chat"], ...agent },
  {
    name: "vercel",
    title: "Vercel's AI SDK",
    packages: ["ai", "@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible"],
    dialects: ["chat", "responses", "messages", "compatible"],
    only: { thought: ["responses", "messages"] },
    ...javaScript
  },
  {
    name: "openai-agents",
    title: "OpenAI's Agents SDK",
    packages: ["@openai/agents"],
    dialects: ["chat", "responses"],
    // With chat it converts each result to text, and keeps no thoughts.
    only: { picture: ["responses"], thought: ["responses"] },
    ...javaScript
  },
  {
    name: "langchain",
    title: "LangChain",
    packages: ["langchain", "@langchain/core", "@langchain/openai", "@langchain/anthropic"],
    dialects: ["chat", "responses", "messages"],
    only: { thought: ["responses", "messages"] },
    ...javaScript
  },
  { name: "openai-js", title: "OpenAI's client", packages: ["openai"], dialects: ["chat", "responses"], ...javaScript },
  {
    name: "anthropic-js",
    title: "Anthropic's client",
    packages: ["@anthropic-ai/sdk"],
    dialects: ["messages"],
    ...javaScript
  },
  {
    name: "litellm-py",
    title: "LiteLLM",
    packages: ["litellm"],
    dialects: ["chat", "messages"],
    only: { thought: ["messages"] },
    ...python
  },
  {
    name: "openai-py",
    title: "OpenAI's client in Python",
    packages: ["openai"],
    dialects: ["chat", "responses"],
    ...python
  },
  {
    name: "anthropic-py",
    title: "Anthropic's client in Python",
    packages: ["anthropic"],
    dialects: ["messages"],
    ...python
  }
]
