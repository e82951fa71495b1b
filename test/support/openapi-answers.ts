/** Holds answers against an OpenAPI document: is the status described, its headers there, its body as promised? */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"

export type Json = Record<string, unknown>

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly contentType: string
  /** Parsed when it is JSON, the data of each event when it is a stream of them. */
  readonly body: unknown
}

export const at = (document: unknown, ...path: ReadonlyArray<string>): Json => {
  let found = document as Json | undefined
  for (const step of path) found = found?.[step] as Json | undefined
  return found ?? {}
}

/** The value a local reference stands for. */
export const resolved = (document: unknown, ref: string): unknown => {
  let found: unknown = document
  for (const step of ref.replace("#/", "").split("/")) found = (found as Json | undefined)?.[step]
  return found
}

export const refsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === "$ref" ? [String(inner)] : refsIn(inner)))
}

/** A header, or an answer, that is named, or as it is. */
export const wholeOf = (document: Json, part: Json): Json => {
  const ref = part["$ref"]
  return typeof ref === "string" ? at(resolved(document, ref)) : part
}

export const events = "text/event-stream"

/** The shape of the data of a stream's events. */
export const dataOf = (event: unknown): unknown => {
  const data = at(event, "properties", "data")
  return data["contentSchema"] ?? data
}

/** Every place where an answer differs from the document; empty when none does. */
export const contractOf = (document: Json) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema(document, "api")
  const compiled = new Map<unknown, ValidateFunction>()
  const compile = (schema: unknown): ValidateFunction => {
    const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as Json
    const validate = ajv.compile(rooted)
    compiled.set(schema, validate)
    return validate
  }
  const faultsOf = (schema: unknown, value: unknown): ReadonlyArray<string> => {
    const validate = compiled.get(schema) ?? compile(schema)
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  const breaches = (method: string, template: string, answer: Answered): ReadonlyArray<string> => {
    const responses = at(document, "paths", template, method.toLowerCase(), "responses")
    const described = responses[String(answer.status)] as Json | undefined
    if (described === undefined) return [`${answer.status} is not described`]
    const response = wholeOf(document, described)
    const missing = Object.entries(at(response, "headers"))
      .filter(([, header]) => wholeOf(document, header as Json)["required"] === true)
      .filter(([name]) => !answer.headers.has(name))
      .map(([name]) => `the header ${name} is missing`)
    const type = answer.contentType.split(";")[0] ?? ""
    if (type === "" && Object.keys(at(response, "content")).length === 0) return missing
    const content = at(response, "content")[type] as Json | undefined
    if (content === undefined) return [...missing, `${type} is not described`]
    const schema = type === events ? dataOf(content["schema"]) : content["schema"]
    if (schema === undefined) return missing
    const values = type === events ? (answer.body as ReadonlyArray<unknown>) : [answer.body]
    return [...missing, ...values.flatMap((value) => faultsOf(schema, value))]
  }
  return { breaches, faultsOf }
}
