import { assert, describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js"
import { consoleDocuments } from "../../../../services/console/documents.ts"
import { gatewayDocuments } from "../../../../services/model-gateway/documents.ts"
import { pipelineDocuments } from "../../../../services/pipeline-api/documents.ts"
import { speechDocuments } from "../../../../services/speech-api/documents.ts"
import { at, type Json } from "../../../support/openapi-answers.ts"

const documents = [
  { api: "the pipeline", make: pipelineDocuments.openApi },
  { api: "speech", make: speechDocuments.openApi },
  { api: "the gateway", make: gatewayDocuments.openApi },
  { api: "the operators", make: consoleDocuments.openApi }
] as const

// As `GET /openapi.json` serves it: without anything that JSON lacks.
const served = (make: () => Json) => JSON.parse(JSON.stringify(make())) as Json

const lines = (errors: ReadonlyArray<ErrorObject>, place = "") =>
  errors.map(({ instancePath, message }) => `${place}${instancePath} ${message}`)

const metaSchema = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })

/** The faults of each JSON Schema in the document, which the schema of OpenAPI 3.1 leaves to JSON Schema. */
const schemaFaults = (value: unknown, place = ""): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
    if (key === "schema" || place === "/components/schemas") {
      return metaSchema.validateSchema(inner) === true ? [] : lines(metaSchema.errors ?? [], path)
    }
    return schemaFaults(inner, path)
  })
}

/** Variables of a path without a parameter, and parameters without a variable. */
const pathFaults = (document: Json) =>
  Object.entries(at(document, "paths")).flatMap(([path, operations]) =>
    Object.entries(operations as Json).flatMap(([method, operation]) => {
      const parameters = ((operation as Json)["parameters"] ?? []) as ReadonlyArray<Json>
      const named = parameters.filter((parameter) => parameter["in"] === "path").map(({ name }) => String(name))
      const variables = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = ""]) => name)
      return named.join() === variables.join() ? [] : [`${method} ${path} has the path parameters: ${named.join()}`]
    })
  )

/** All that makes the document no OpenAPI 3.1, each fault with its path. */
const faultsOf = async (document: Json): Promise<ReadonlyArray<string>> => {
  const validator = new Validator()
  // The validator keeps what it is given, and writes to it.
  const { errors = [] } = await validator.validate(structuredClone(document))
  const shape = typeof errors === "string" ? [errors] : lines(errors)
  const version = validator.version === "3.1" ? [] : [`/openapi is ${String(document["openapi"])}`]
  return [...version, ...shape, ...schemaFaults(document), ...pathFaults(document)]
}

describe("each OpenAPI document", () => {
  it.each(documents)(
    "of $api is valid by the schema of OpenAPI 3.1, as are the JSON Schemas in it",
    async ({ make }) => {
      assert.deepStrictEqual(await faultsOf(served(make)), [])
    }
  )

  it.each([
    {
      fault: "a response without a description",
      spoil: (document: Json) =>
        delete at(document, "paths", "/v1/messages", "post", "responses", "200")["description"],
      said: "/paths/~1v1~1messages/post/responses/200 must have required property 'description'"
    },
    {
      fault: "a reference to nothing",
      spoil: (document: Json) => (at(document, "components", "schemas", "Error")["not"] = { $ref: "#/nothing" }),
      said: "Can't resolve #/nothing"
    },
    {
      fault: "a type that JSON Schema lacks",
      spoil: (document: Json) => (at(document, "components", "schemas", "Error")["type"] = "record"),
      said: "/components/schemas/Error/type must be equal to one of the allowed values"
    },
    {
      fault: "a path parameter that is not declared",
      spoil: (document: Json) => delete at(document, "paths", "/v1/models/{model}", "get")["parameters"],
      said: "get /v1/models/{model} has the path parameters: "
    }
  ])("is told apart from one with $fault", async ({ spoil, said }) => {
    const document = served(gatewayDocuments.openApi)
    spoil(document)
    assert.include(await faultsOf(document), said)
  })
})
