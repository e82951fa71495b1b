/**
 * The arguments and flags of a command, from the schemas of the endpoint that it calls: the path's parameters are its
 * arguments, the fields of query and body its flags, with their descriptions, words and bounds.
 */
import { Schema } from "effect"
import { type Argument, Flag } from "effect/cli"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ConsoleHttpApi } from "#console/api"
import { bodyOf } from "#base/http"
import {
  choice,
  cursor,
  dryRun,
  endpointFlag,
  endpointName,
  eventFlag,
  eventName,
  limit,
  orUndefined,
  reason,
  since,
  text,
  texts,
  time,
  toggle,
  until,
  wholeNumber,
  word
} from "../flags.ts"

type Endpoint = HttpApiGroup.Endpoints<(typeof ConsoleHttpApi.groups)[keyof typeof ConsoleHttpApi.groups]>
export type EndpointName = Endpoint["identifier"]
type Named<Name extends EndpointName> = Extract<Endpoint, { readonly identifier: Name }>
export type ParamsOf<Name extends EndpointName> = HttpApiEndpoint.Params<Named<Name>>["Type"]
export type AnswerOf<Name extends EndpointName> = HttpApiEndpoint.Success<Named<Name>>["Type"]
type FieldsOf<Name extends EndpointName> =
  | HttpApiEndpoint.Query<Named<Name>>["Type"]
  | HttpApiEndpoint.Payload<Named<Name>>["Type"]

const endpoints: ReadonlyMap<string, HttpApiEndpoint.Top> = new Map(
  Object.values(ConsoleHttpApi.groups)
    .flatMap((group): ReadonlyArray<HttpApiEndpoint.Top> => Object.values(group.endpoints))
    .map((endpoint) => [endpoint.identifier, endpoint])
)

/** An endpoint's inputs: the names of its fields, with the JSON Schema of each. */
export const fieldsOf = (name: EndpointName) => {
  const endpoint = endpoints.get(name)
  const { body } = endpoint === undefined ? {} : bodyOf(endpoint)
  return { params: propertiesOf(endpoint?.params), query: propertiesOf(endpoint?.query), body: propertiesOf(body) }
}

/** A list's columns, a line each, with what the API says of the field. */
export const columnsText = (name: EndpointName, columns: Readonly<Record<string, string>>): string => {
  const [answer] = endpoints.get(name)?.success ?? []
  const items = propertiesOf(answer)["items"] as { readonly items?: JsonSchema } | undefined
  const { definitions } = answer === undefined ? { definitions: {} } : Schema.toJsonSchemaDocument(answer)
  const { properties = {} } = merged(items?.items ?? {}, definitions) as { readonly properties?: Properties }
  const width = Math.max(...Object.keys(columns).map((title) => title.length))
  const lines = Object.entries(columns).map(([title, field]) =>
    `    ${title.padEnd(width)}  ${sentence(descriptionIn(properties[field] ?? {}))}`.trimEnd()
  )
  return ["  Columns:", ...lines].join("\n")
}

/** What is said of a field here, and not of its type. */
const descriptionIn = ({ description, allOf = [] }: JsonSchema): unknown =>
  description ?? (allOf as ReadonlyArray<JsonSchema>).map((part) => part["description"]).find(Boolean)

export type JsonSchema = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, JsonSchema>>

export const propertiesOf = (schema: Schema.Top | undefined): Properties => {
  if (schema === undefined) return {}
  const { schema: root, definitions } = Schema.toJsonSchemaDocument(schema)
  const { properties = {} } = merged(root, definitions) as { readonly properties?: Properties }
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, merged(field, definitions)]))
}

/** A schema merged with the one it refers to, and the name of that. */
const merged = (schema: JsonSchema, definitions: Properties): JsonSchema => {
  const { $ref, allOf = [], ...own } = schema as JsonSchema & { readonly allOf?: ReadonlyArray<JsonSchema> }
  const parts = allOf.map((part) => merged(part, definitions))
  if (typeof $ref !== "string") return Object.assign({}, own, ...parts)
  const identifier = $ref.slice($ref.lastIndexOf("/") + 1)
  return Object.assign({}, merged(definitions[identifier] ?? {}, definitions), { identifier }, own, ...parts)
}

/** Flags with the same wording in every command. */
const shared: Readonly<Record<string, Flag.Flag<unknown>>> = {
  since,
  until,
  limit: Flag.map(limit, String),
  cursor,
  dryRun,
  reason
}

/** A value's name in the help, if its field's name is less clear. */
const metavars: Readonly<Record<string, string>> = {
  events: "NAME",
  origin: "NAME",
  model: "ID",
  projectId: "ID",
  transaction: "ID",
  network: "CHAIN",
  payer: "ACCOUNT"
}

/** The flag of a field of a query or a body. Its value is what the endpoint takes, or undefined. */
export const flagOf = (field: string, schema: JsonSchema): Flag.Flag<unknown> => {
  const name = flagName(field, schema)
  const about = sentence(schema["description"])
  const words = schema["enum"] as ReadonlyArray<string> | undefined
  if (words?.join() === "true,false") return Flag.map(toggle(name, about), (isGiven) => (isGiven ? "true" : undefined))
  if (words !== undefined) return choice(name, words, about)
  if (schema["type"] === "boolean") return toggle(name, about)
  if (schema["identifier"] === "Timestamp") return time(name, about)
  if (schema["type"] === "integer") {
    const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema as Readonly<Record<string, number>>
    return wholeNumber(name, { min: minimum, max: maximum, description: about }).pipe(orUndefined)
  }
  const digits = digitsPattern.exec(String(schema["pattern"]))?.[1]
  if (digits !== undefined) {
    const number = wholeNumber(name, { min: 0, max: 10 ** Number(digits) - 1, description: about })
    return number.pipe(Flag.map(String), orUndefined)
  }
  if (field === "endpoint") return endpointFlag(name, about)
  if (field === "event") return eventFlag(name, about)
  const metavar = metavars[field] ?? field.toUpperCase()
  return schema["type"] === "array" ? texts(name, metavar, `${about}; again for more`) : text(name, metavar, about)
}

/** A whole number in a query, which is text on the wire. */
const digitsPattern = /^\^\\d\{1,(\d+)\}\$$/u

/** A list's flag is repeated for each entry; the id of a thing is named after the thing. */
const flagName = (field: string, schema: JsonSchema) =>
  (schema["type"] === "array" ? field.replace(/s$/u, "") : field)
    .replace(/(?<=.)Id$/u, "")
    .replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)

/** An API description in the style of the help: lower-case start, no markup and no final full stop. */
export const sentence = (description: unknown) =>
  String(description ?? "")
    .replaceAll("`", "")
    .replace(/\.$/u, "")
    .replace(/^[A-Z](?![A-Z])/u, (letter) => letter.toLowerCase())

/** The words of paths, as commands call them. */
const argumentsByParam: Readonly<Record<string, Argument.Argument<string>>> = {
  sequence: word("number", "its number in the list"),
  deliveryId: word("id", "the delivery's id, as in X-Service-Delivery"),
  name: endpointName("name", "the endpoint's name"),
  event: eventName("event", "its name"),
  key: word("key", "its key in the list"),
  finding: word("id", "a finding, as the list has it")
}

export const argumentsOf = (params: Properties) =>
  Object.fromEntries(Object.keys(params).map((param) => [param, argumentsByParam[param] ?? word(param, param)]))

/** The endpoint's own fields come first. */
const order = (field: string) => Object.keys(shared).indexOf(field)

/** The flags of query and body, by their fields. */
export const flagsOf = <Name extends EndpointName>(name: Name) => {
  const { query, body } = fieldsOf(name)
  const fields = Object.entries({ ...query, ...body }).toSorted(([left], [right]) => order(left) - order(right))
  const flags = fields.map(([field, schema]) => [field, shared[field] ?? flagOf(field, schema)] as const)
  return Object.fromEntries(flags) as {
    readonly [Field in keyof FieldsOf<Name>]-?: Flag.Flag<FieldsOf<Name>[Field]>
  }
}
