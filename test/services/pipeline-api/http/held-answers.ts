/** Answers of the pipeline's API, held against the document that it serves. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { pipelineDocuments } from "../../../../services/pipeline-api/documents.ts"
import type { Asked, Call, Heard, Json } from "../../../support/pipeline.ts"
import { contractOf } from "../../../support/openapi-answers.ts"

const document = JSON.parse(JSON.stringify(pipelineDocuments.openApi())) as Json
const { breaches } = contractOf({ ...document })
const templates = Object.keys(document["paths"] as Json)

/** Asks, and holds the answer against the document that the API serves. */
export const held = (call: Call) => (verb: string, asked?: Asked) =>
  Effect.tap(call(verb, asked), (heard) =>
    Effect.sync(() => {
      const [method = "", path = ""] = verb.split(" ")
      const plain = path.split("?")[0] ?? ""
      const template =
        templates.find((each) => each === plain) ??
        templates.find((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u").test(plain))
      assert.isDefined(template, verb)
      const answered = { ...heard, contentType: heard.headers.get("content-type") ?? "" }
      assert.deepStrictEqual(breaches(method, template ?? "", answered), [], `${verb}: ${JSON.stringify(heard.body)}`)
    })
  )

export const codeOf = ({ body }: Heard) => (body["error"] as Json | undefined)?.["code"]
export const fieldsOf = ({ body }: Heard) => Object.keys(((body["error"] as Json)["fields"] ?? {}) as Json).toSorted()
export const detailsOf = ({ body }: Heard) => (body["error"] as Json)["details"] as Json
