/**
 * How to configure Codex, Claude Code and opencode to call the payer, or the gateway itself for free models: how they
 * are started, and the entries in their own files. Pure.
 */
import { Result } from "effect"

export const agentNames = ["codex", "claude", "opencode"] as const
export type AgentName = (typeof agentNames)[number]

/** The variable with the payer's token. */
export const tokenVariable = "STARLING_PAYER_TOKEN"

export interface AgentPlace {
  /** Of the payer or the gateway, without a trailing slash. */
  readonly url: string
  readonly model: string
  /** The payer requires its token; a gateway accepts calls of free models without one. */
  readonly isPayer: boolean
}

export interface Agent {
  /** Below the user's home. */
  readonly path: string
  /** The entry for its file, as printed. */
  readonly entry: (place: AgentPlace) => string
  /** How it is started. */
  readonly start: (place: AgentPlace) => string
  /** The file with the entry in it, once; or why it is left unchanged. */
  readonly merged: (before: string, place: AgentPlace) => Result.Result<string, string>
}

type Json = Readonly<Record<string, unknown>>

const codexHead = "[model_providers.starling]"

const codexEntry = ({ url, isPayer }: AgentPlace) =>
  [
    codexHead,
    `name = "Starling"`,
    `base_url = ${JSON.stringify(`${url}/v1`)}`,
    `wire_api = "responses"`,
    ...(isPayer ? [`env_key = "${tokenVariable}"`] : [])
  ].join("\n")

/** The table ends where the next one begins. */
const withTable = (before: string, entry: string): string => {
  const lines = before.split("\n")
  const start = lines.findIndex((line) => line.trim() === codexHead)
  if (start < 0) return `${before === "" ? "" : `${before.trimEnd()}\n\n`}${entry}\n`
  const next = lines.findIndex((line, at) => at > start && line.trimStart().startsWith("["))
  const rest = next < 0 ? "" : `\n\n${lines.slice(next).join("\n")}`
  return `${[...lines.slice(0, start), entry].join("\n")}${rest}${next < 0 ? "\n" : ""}`
}

const helper = `printenv ${tokenVariable}`
const noToken = "none"

const claudeEntry = ({ url, model, isPayer }: AgentPlace): Json => ({
  ...(isPayer ? { apiKeyHelper: helper } : {}),
  env: {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ...(isPayer ? {} : { ANTHROPIC_AUTH_TOKEN: noToken })
  }
})

const opencodeEntry = ({ url, model, isPayer }: AgentPlace): Json => ({
  provider: {
    starling: {
      npm: "@ai-sdk/openai-compatible",
      name: "Starling",
      options: { baseURL: `${url}/v1`, apiKey: isPayer ? `{env:${tokenVariable}}` : "none" },
      models: { [model]: {} }
    }
  }
})

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Objects are merged; otherwise the later value wins. */
const joined = (before: Json, more: Json): Json =>
  Object.entries(more).reduce<Json>((made, [key, value]) => {
    const earlier = made[key]
    return { ...made, [key]: isObject(earlier) && isObject(value) ? joined(earlier, value) : value }
  }, before)

/** Our own earlier entries in the file that the new entry lacks. */
type Outdated = (before: Json, entry: Json) => Json

const mergedJson = (before: string, entry: Json, outdated: Outdated): Result.Result<string, string> => {
  const read = before.trim() === "" ? Result.succeed<unknown>({}) : Result.try(() => JSON.parse(before) as unknown)
  if (Result.isFailure(read) || !isObject(read.success)) return Result.fail("it is no JSON that can be written again")
  return Result.succeed(pretty(joined(outdated(read.success, entry), entry)))
}

const pretty = (value: Json) => `${JSON.stringify(value, null, 2)}\n`

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The payer's token is only for the payer, and a gateway's placeholder token is no use to the payer. */
const withoutOurKeys: Outdated = (before, entry) => {
  const { env } = before
  const isOurs = before["apiKeyHelper"] === helper && entry["apiKeyHelper"] === undefined
  const settings = isOurs ? withoutKey(before, "apiKeyHelper") : before
  if (!isObject(env) || env["ANTHROPIC_AUTH_TOKEN"] !== noToken) return settings
  return { ...settings, env: withoutKey(env, "ANTHROPIC_AUTH_TOKEN") }
}

const withoutKey = (object: Json, key: string): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))

interface JsonAgent extends Pick<Agent, "path" | "start"> {
  readonly entry: (place: AgentPlace) => Json
  readonly outdated?: Outdated
}

const jsonAgent = ({ path, start, entry, outdated = (before) => before }: JsonAgent): Agent => ({
  path,
  start,
  entry: (place) => pretty(entry(place)).trimEnd(),
  merged: (before, place) => mergedJson(before, entry(place), outdated)
})

export const agents: Readonly<Record<AgentName, Agent>> = {
  codex: {
    path: ".codex/config.toml",
    entry: codexEntry,
    start: ({ model }) => `codex -c model_provider=starling -m ${quoted(model)}`,
    merged: (before, place) => Result.succeed(withTable(before, codexEntry(place)))
  },
  claude: jsonAgent({
    path: ".claude/settings.json",
    start: () => "claude",
    entry: claudeEntry,
    outdated: withoutOurKeys
  }),
  opencode: jsonAgent({
    path: ".config/opencode/opencode.json",
    start: ({ model }) => `opencode -m ${quoted(`starling/${model}`)}`,
    entry: opencodeEntry
  })
}
