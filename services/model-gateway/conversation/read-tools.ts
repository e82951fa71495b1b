/** A request's tools in each dialect, its tool choice, and the form of its answer. Pure. */
import { isRecord, type JsonObject, recordAt, recordsAt, textAt, without } from "../translate/json.ts"
import type { CallersTool, OutputForm, Tool, ToolChoice, ToolForm, ToolName } from "./Conversation.ts"

/** A key only if it has a value. */
const present = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined && each !== null)) as T

interface Declared {
  readonly form: ToolForm
  readonly name?: unknown
  readonly description?: unknown
  readonly schema?: unknown
  readonly strict?: unknown
  readonly group?: string | undefined
  readonly value: JsonObject
}

const callersTool = ({ form, name, description, schema, strict, group, value }: Declared): CallersTool =>
  present({
    _tag: "Callers" as const,
    form,
    name: typeof name === "string" ? name : "",
    description: typeof description === "string" ? description : undefined,
    schema,
    strict,
    group,
    cache: isRecord(value["cache_control"]) ? value["cache_control"] : undefined,
    value
  }) as CallersTool

/** A tool without a type is identified by its first key. */
const providersTool = (value: JsonObject, path: string): Tool => ({
  _tag: "Providers",
  type: (textAt(value, "type") ?? Object.keys(value)[0] ?? "unknown").replace(/_\d{8}$/u, "").slice(0, 64),
  value,
  path
})

/** Chat's tools, and the functions of its first version. */
export const chatTools = (request: JsonObject): ReadonlyArray<Tool> => [
  ...recordsAt(request, "tools").map((tool, at): Tool => {
    const form = tool["type"] === "custom" ? "custom" : "function"
    if ((tool["type"] ?? form) !== form || !isRecord(tool[form])) return providersTool(tool, `tools[${at}]`)
    const declared = recordAt(tool, form)
    const { name, description, parameters, strict } = declared
    return callersTool({ form, name, description, schema: parameters, strict, value: tool })
  }),
  ...recordsAt(request, "functions").map((declared): Tool => {
    const { name, description, parameters: schema } = declared
    return callersTool({ form: "function", name, description, schema, value: { type: "function", function: declared } })
  })
]

export const messagesTools = (request: JsonObject): ReadonlyArray<Tool> =>
  recordsAt(request, "tools").map((tool, at) => {
    const { type, name, description, input_schema: schema, strict } = tool
    const isCallers = (type ?? "custom") === "custom" && typeof name === "string"
    if (!isCallers) return providersTool(tool, `tools[${at}]`)
    return callersTool({ form: "function", name, description, schema, strict, value: tool })
  })

export const responsesTools = (request: JsonObject): ReadonlyArray<Tool> =>
  recordsAt(request, "tools").flatMap((tool, at) => responsesTool(tool, `tools[${at}]`))

export const responsesTool = (tool: JsonObject, path: string, group?: string): ReadonlyArray<Tool> => {
  const { type, name, description, parameters: schema, strict } = tool
  switch (type) {
    case "function":
      return [callersTool({ form: "function", name, description, schema, strict, group, value: tool })]
    case "custom":
      return [callersTool({ form: "custom", name, description: customWords(tool), group, value: tool })]
    case "namespace":
      // A tool has one group: another group within it is not a known tool.
      if (group !== undefined) break
      return recordsAt(tool, "tools").flatMap((inner, at) =>
        responsesTool(inner, `${path}.tools[${at}]`, textAt(tool, "name"))
      )
    case "local_shell":
    case "apply_patch":
      return [callersTool({ form: type, name: type, ...clientTools[type], value: tool })]
    case "shell": {
      const place = recordAt(tool, "environment")["type"] ?? "local"
      if (place !== "local") break
      return [callersTool({ form: "shell", name: "shell", ...clientTools.shell, value: tool })]
    }
    case "tool_search":
      if (tool["execution"] !== "client") break
      return [callersTool({ form: "tool_search", name: "tool_search", description, schema, value: tool })]
  }
  return [providersTool(tool, path)]
}

/** Not every model can be given a grammar, so it is described in words. */
const customWords = (tool: JsonObject): string => {
  const format = recordAt(tool, "format")
  const description = textAt(tool, "description") ?? ""
  const definition = textAt(format, "definition")
  if (definition === undefined) return description
  return `${description}\n\nThe input must follow this ${textAt(format, "syntax") ?? "formal"} grammar:\n${definition}`
}

const texts = { type: "array", items: { type: "string" } }
const milliseconds = { type: "integer", description: "How long it may take, in milliseconds." }

/** Tools that a dialect identifies by their type alone, and that callers run themselves. */
const clientTools = {
  local_shell: {
    description: "Runs a command on the caller's machine and gives what it printed.",
    schema: {
      type: "object",
      properties: { command: texts, working_directory: { type: "string" }, timeout_ms: milliseconds },
      required: ["command"],
      additionalProperties: false
    }
  },
  shell: {
    description: "Runs commands on the caller's machine, one after the other, and gives what they printed.",
    schema: {
      type: "object",
      properties: { commands: texts, timeout_ms: milliseconds, max_output_length: { type: "integer" } },
      required: ["commands"],
      additionalProperties: false
    }
  },
  apply_patch: {
    description: "Creates, changes or deletes a file of the caller's. A change is a diff in V4A format.",
    schema: {
      type: "object",
      properties: {
        type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
        path: { type: "string" },
        diff: { type: "string", description: "Left out where a file is deleted." }
      },
      required: ["type", "path"],
      additionalProperties: false
    }
  }
} as const

interface Chosen {
  readonly tools: ReadonlyArray<Tool>
  readonly choice: ToolChoice | undefined
}

const words: Readonly<Record<string, ToolChoice>> = {
  __proto__: null as never,
  auto: { _tag: "Auto" },
  none: { _tag: "None" },
  any: { _tag: "Any" },
  required: { _tag: "Any" }
}

const named = (tool: ToolName): ToolChoice => ({ _tag: "Named", tool })

/** The choice in chat and responses. A choice among some tools omits the others. */
export const openAiChoice = (choice: unknown, tools: ReadonlyArray<Tool>): Chosen => {
  if (typeof choice === "string") return { tools, choice: words[choice] }
  if (!isRecord(choice)) return { tools, choice: undefined }
  if (choice["type"] === "allowed_tools") {
    const allowed = isRecord(choice["allowed_tools"]) ? choice["allowed_tools"] : choice
    const names = new Set(recordsAt(allowed, "tools").map(nameIn))
    const mode = textAt(allowed, "mode") ?? "auto"
    return { tools: tools.filter((tool) => names.has(nameOf(tool))), choice: words[mode] }
  }
  const name = nameIn(choice)
  const found = tools.find((tool) => nameOf(tool) === name)
  if (found?._tag === "Callers") return { tools, choice: named(found) }
  return { tools, choice: name === "" ? { _tag: "Own", value: choice } : named({ name }) }
}

const nameIn = (choice: JsonObject): string =>
  textAt(choice, "name") ??
  textAt(recordAt(choice, "function"), "name") ??
  textAt(recordAt(choice, "custom"), "name") ??
  textAt(choice, "type") ??
  ""

const nameOf = (tool: Tool) => (tool._tag === "Callers" ? tool.name : tool.type)

/** Anthropic's choice. */
export const messagesChoice = (choice: JsonObject): ToolChoice | undefined => {
  const { type } = choice
  if (type === "tool") return named({ name: textAt(choice, "name") ?? "" })
  return typeof type === "string" ? words[type] : undefined
}

/** `response_format`, and the format of responses, which has the schema's keys beside its type. */
export const openAiOutput = (format: JsonObject): OutputForm | undefined => {
  if (format["type"] === "json_object") return { _tag: "Json" }
  if (format["type"] !== "json_schema") return undefined
  const declared = isRecord(format["json_schema"]) ? format["json_schema"] : without(format, "type")
  const { name, description, schema, strict } = declared
  return present({ _tag: "Schema" as const, name, description, schema, strict }) as OutputForm
}
