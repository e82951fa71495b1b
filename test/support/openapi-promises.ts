/**
 * The promises of an OpenAPI document to its callers, a line each: routes, parameters, bodies, statuses, codes,
 * headers, and the fields of schemas with their types. A promise may be added and none removed; nor may more be
 * required of callers. A list of all codes is one line, which changes with each new code: it is then written anew.
 */
import { readFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { at, dataOf, events, type Json, wholeOf } from "./openapi-answers.ts"

export const promisesOf = (document: Json): ReadonlyArray<string> => {
  const operations = Object.entries(at(document, "paths")).flatMap(([path, methods]) =>
    Object.entries(methods as Json).flatMap(([method, operation]) =>
      ofOperation(`${method.toUpperCase()} ${path}`, operation as Json, document)
    )
  )
  const shapes = Object.entries(at(document, "components", "schemas")).flatMap(([name, schema]) =>
    fieldsOf(name, schema as Json, requestShapes(document).has(name) ? "request" : "answer")
  )
  return [...new Set([...operations, ...shapes])].toSorted()
}

const ofOperation = (verb: string, operation: Json, document: Json): ReadonlyArray<string> => {
  const parameters = (operation["parameters"] ?? []) as ReadonlyArray<Json>
  const body = operation["requestBody"] as Json | undefined
  return [
    verb,
    `${verb} security ${JSON.stringify(operation["security"])}`,
    ...parameters.map((parameter) => {
      const ref = parameter["$ref"]
      const whole =
        typeof ref === "string" ? at(document, "components", "parameters", ref.split("/").at(-1) ?? "") : parameter
      const { name, in: place, required, schema } = whole
      return `${verb} ${String(place)} ${String(name)}: ${typeOf(schema)}${required === true ? ", required" : ""}`
    }),
    ...(body === undefined
      ? []
      : Object.entries(at(body, "content")).flatMap(([type, content]) => {
          const schema = at(content, "schema")
          const [own, ...others] = (schema["anyOf"] ?? [schema]) as ReadonlyArray<Json>
          return [
            `${verb} takes ${type} ${typeOf(own)}${body["required"] === true ? ", required" : ""}`,
            ...others.map((other) => `${verb} or takes ${type} ${typeOf(other)}`)
          ]
        })),
    ...Object.entries(at(operation, "responses")).flatMap(([status, response]) =>
      ofResponse(`${verb} ${status}`, wholeOf(document, response as Json))
    )
  ]
}

/**
 * Every answer has X-Request-Id. A refusal's codes have a line each, so that one may be added; its shapes too, but for
 * the standard envelope.
 */
const ofResponse = (verb: string, response: unknown): ReadonlyArray<string> => {
  const headers = Object.keys(at(response, "headers")).filter((name) => name !== "X-Request-Id")
  return [
    ...headers.map((name) => `${verb} header ${name}`),
    ...Object.entries(at(response, "content")).flatMap(([type, content]) => {
      const described = at(content, "schema")
      const schema = type === events ? (dataOf(described) as Json) : described
      const shapes = (schema["anyOf"] ?? [schema]) as ReadonlyArray<Json>
      if (!shapes.some(isCoded)) return [`${verb} ${type} ${typeOf(schema)}`]
      return shapes.flatMap((shape) => {
        const name = typeOf(isCoded(shape) ? shape.allOf[0] : shape)
        return [...codesOf(shape), ...(name === "ErrorEnvelope" ? [] : [`${type} ${name}`])].map(
          (each) => `${verb} ${each}`
        )
      })
    })
  ]
}

const isCoded = (shape: Json): shape is { readonly allOf: readonly [Json, Json] } => Array.isArray(shape["allOf"])

const codesOf = (shape: Json): ReadonlyArray<string> => (isCoded(shape) ? codesIn(shape.allOf[1]) : [])

/** The one field that is narrowed, wherever it is. */
const codesIn = (narrowed: Json): ReadonlyArray<string> =>
  (narrowed["enum"] as ReadonlyArray<string> | undefined) ??
  Object.values(at(narrowed, "properties")).flatMap((inner) => codesIn(inner as Json))

/** The shapes of requests, with those within them. */
const requestShapes = (document: Json): ReadonlySet<string> => {
  const found = new Set<string>()
  const follow = (value: unknown) => {
    for (const [, name = ""] of JSON.stringify(value ?? null).matchAll(/#\/components\/schemas\/(\w+)/gu)) {
      if (found.has(name)) continue
      found.add(name)
      follow(at(document, "components", "schemas", name))
    }
  }
  for (const methods of Object.values(at(document, "paths"))) {
    for (const operation of Object.values(methods as Json)) follow((operation as Json)["requestBody"])
  }
  return found
}

const fieldsOf = (path: string, schema: Json, side: "request" | "answer"): ReadonlyArray<string> => {
  const properties = schema["properties"] as Record<string, Json> | undefined
  if (properties === undefined) return [`${path}: ${typeOf(schema)}`]
  const required = (schema["required"] ?? []) as ReadonlyArray<string>
  return Object.entries(properties).flatMap(([name, field]) => {
    const place = `${path}.${name}`
    return [
      `${place}: ${typeOf(field)}${required.includes(name) ? `, ${side === "request" ? "required" : "always"}` : ""}`,
      ...(field["properties"] === undefined ? [] : fieldsOf(place, field, side))
    ]
  })
}

const typeOf = (schema: unknown): string => {
  const { $ref: ref, type, enum: values, items, anyOf, oneOf, allOf, format } = (schema ?? {}) as Json
  if (typeof ref === "string") return ref.split("/").at(-1) ?? ""
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ")
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return choices.map(typeOf).join(" | ")
  if (Array.isArray(allOf)) return allOf.map(typeOf).join(" & ")
  if (items !== undefined) return `${typeOf(items)}[]`
  return [type ?? "any", format].filter((each) => each !== undefined).join(" ")
}

/**
 * Broken promises, and new requirements on callers in known places. A field of one of the `requests` may come to take
 * more values.
 */
export const breakingChanges = (
  promised: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
  requests: ReadonlySet<string> = new Set()
): ReadonlyArray<string> => {
  const widened = promised.filter(
    (promise) => requests.has(placeOf(promise)) && now.some((present) => isWider(present, promise))
  )
  const kept = new Set([...now, ...widened])
  const known = new Set(promised)
  const knownPlaces = new Set(promised.map(placeOf))
  return [
    ...promised.filter((promise) => !kept.has(promise)).map((promise) => `gone: ${promise}`),
    ...now
      .filter((promise) => !known.has(promise) && promise.endsWith(", required") && knownPlaces.has(placeOf(promise)))
      .map((promise) => `newly required: ${promise}`)
  ]
}

/** The same field with all of the promised values or types, and others. */
const isWider = (present: string, promise: string) => {
  const [field, values = ""] = promise.split(/: (.*)/su)
  const [presentField, presentValues = ""] = present.split(/: (.*)/su)
  const all = presentValues.split(" | ")
  return field === presentField && values.split(" | ").every((value) => all.includes(value))
}

/** The route or the shape that a promise is about. */
const placeOf = (promise: string) => {
  const [first = "", second = ""] = promise.split(" ")
  return first.includes(".") || first.endsWith(":") ? (first.split(/[.:]/u)[0] ?? "") : `${first} ${second}`
}

/** Compares a document with the promises kept in `file`, of which there must be more than `linesMin`. */
export const assertPromisesKept = (document: Json, file: URL, linesMin: number) => {
  const promised = readFileSync(file, "utf8").trimEnd().split("\n")
  assert.isAbove(promised.length, linesMin)
  const now = promisesOf(document)
  assert.deepStrictEqual(breakingChanges(promised, now, requestShapes(document)), [])
  const unwritten = now.filter((promise) => !promised.includes(promise))
  assert.deepStrictEqual(unwritten, [], "openapi-promises.txt keeps what is new as well: add these lines")
}
