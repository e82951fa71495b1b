/** What OpenAI refuses in JSON schemas: those that are to be strict and leave something open. Pure. */
import { isJson, type Json, jsonOf, objectsOf, textAt } from "../json.ts"
import { structuredOutputs } from "./openai-words.ts"
import { firstOf, type Refusal, refusal, type Rule } from "./refusal.ts"

const contextOf = (path: ReadonlyArray<string>) =>
  path.length === 1 ? `('${path[0]}',)` : `(${path.map((step) => `'${step}'`).join(", ")})`

const fault = (schema: Json, path: ReadonlyArray<string>): string | undefined => {
  if (!isJson(schema["properties"]) && schema["type"] !== "object") return undefined
  const context = `In context=${contextOf(path)}`
  if (schema["additionalProperties"] !== false) {
    return `${context}, 'additionalProperties' is required to be supplied and to be false.`
  }
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const missing = Object.keys(jsonOf(schema["properties"])).find((key) => !required.includes(key))
  if (missing === undefined) return undefined
  return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`
}

const strictFault = (schema: unknown, path: ReadonlyArray<string> = []): string | undefined => {
  if (!isJson(schema)) return undefined
  const named = ["properties", "$defs", "definitions"].flatMap((key) =>
    Object.entries(jsonOf(schema[key])).map(([name, each]) => [each, [key, name]] as const)
  )
  const options = ["anyOf", "prefixItems"].flatMap((key) =>
    objectsOf(schema[key]).map((each, index) => [each, [key, String(index)]] as const)
  )
  const inner = [...named, ...options, [schema["items"], ["items"]] as const]
  return fault(schema, path) ?? firstOf(inner, ([each, steps]) => strictFault(each, [...path, ...steps]))
}

const formatFault = ({ json_schema: format }: Json): Refusal | undefined => {
  const { strict, schema } = jsonOf(format)
  const found = strict === true ? strictFault(schema) : undefined
  return found === undefined
    ? undefined
    : refusal(`Invalid schema for response_format '${textAt(jsonOf(format), "name")}': ${found}`, "response_format")
}

const toolFault = (tool: Json, index: number): Refusal | undefined => {
  const declared = jsonOf(tool["function"])
  const found = declared["strict"] === true ? strictFault(declared["parameters"]) : undefined
  return found === undefined
    ? undefined
    : refusal(
        `Invalid schema for function '${textAt(declared, "name")}': ${found}`,
        `tools[${index}].function.parameters`,
        "invalid_function_parameters"
      )
}

const saysJson = (messages: unknown) => /json/iu.test(JSON.stringify(objectsOf(messages)))

export const schemaRules: ReadonlyArray<Rule> = [
  {
    refuses: "a strict schema of an answer that allows more than it names, or leaves a key out",
    source: structuredOutputs,
    check: ({ response_format: format }) => formatFault(jsonOf(format))
  },
  {
    refuses: "a strict schema of a tool that allows more than it names, or leaves a key out",
    source: structuredOutputs,
    check: ({ tools }) => firstOf(objectsOf(tools), toolFault)
  },
  {
    refuses: "a json_object that no message asks for",
    source: structuredOutputs,
    check: ({ messages, response_format: format }) =>
      jsonOf(format)["type"] !== "json_object" || saysJson(messages)
        ? undefined
        : refusal(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            "messages"
          )
  }
]
