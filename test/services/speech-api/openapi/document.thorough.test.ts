import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { audioFormats } from "#audio"
import { DialogueRequest, ModelList, speechModels, SpeechRequest, StreamRequest, Voice, VoiceList } from "#contracts"
import { descriptionRoute, type FormFile, templateOf } from "#http"
import { sharedVoices } from "#speech"
import { generatedDocuments } from "../../../../services/fleet/documents.ts"
import { errorCodes } from "../../../../services/speech-api/openapi/components.ts"
import { operations } from "../../../../services/speech-api/openapi/operations.ts"
import { speechApiPage } from "../../../../services/speech-api/openapi/page.ts"
import { openApiDocument } from "../../../../services/speech-api/openapi/document.ts"
import { planSpeech, type SpeechRoute } from "../../../../services/speech-api/speaking/plan.ts"
import { sharedSpeakable } from "../../../../services/speech-api/voices/speakable.ts"
import { audioRoutes } from "../../../../services/speech-api/routes/audio.ts"
import { catalogueRoutes, modelList } from "../../../../services/speech-api/routes/catalogue.ts"
import { pageOfVoices, voiceBody } from "../../../../services/speech-api/voices/list.ts"
import { voiceRoutes } from "../../../../services/speech-api/routes/voices.ts"
import { readVoiceForm, voiceFormSpec } from "../../../../services/speech-api/voices/form.ts"
import { at, contractOf, type Json, refsIn, resolved } from "../../../support/openapi-answers.ts"
import { usedChallenge } from "../voices/records.ts"

// As callers get it: without anything that JSON lacks.
const document = JSON.parse(JSON.stringify(openApiDocument())) as Json
const contract = contractOf(document)
const described = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
  Object.entries(item as Json).map(([method, operation]) => ({ path, method, operation: operation as Json }))
)

describe("the OpenAPI document", () => {
  it("resolves every reference, and uses every schema", () => {
    const refs = new Set(refsIn(document))
    for (const ref of refs) assert.isDefined(resolved(document, ref), ref)
    for (const name of Object.keys(at(document, "components", "schemas"))) {
      assert.isTrue(refs.has(`#/components/schemas/${name}`), `${name} is not used`)
    }
  })

  it("describes the existing routes, and no others", () => {
    const routes = [...audioRoutes, ...catalogueRoutes, ...voiceRoutes, descriptionRoute(openApiDocument)]
    assert.deepStrictEqual(
      described.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted(),
      routes.map(({ method, path }) => `${method} ${templateOf(path)}`).toSorted()
    )
  })

  it("gives every operation a name of its own, responses, and a parameter for each part of its path", () => {
    const names = new Set(described.map(({ operation }) => operation["operationId"]))
    assert.strictEqual(names.size, described.length)
    for (const { path, operation } of described) {
      const responses = at(operation, "responses")
      assert.includeMembers(Object.keys(responses), ["500", "default"], path)
      assert.strictEqual(Object.keys(responses).filter((status) => status.startsWith("2")).length, 1, path)
      for (const response of Object.values(responses)) assert.isNotEmpty((response as Json)["description"])
      const named = (operation["parameters"] as ReadonlyArray<Json>).filter((parameter) => parameter["in"] === "path")
      const parts = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)
      assert.deepStrictEqual(
        named.map(({ name }) => name),
        parts
      )
    }
  })

  it("lists every code at its own status", () => {
    for (const { id, path, method, codes } of operations) {
      const responses = at(document, "paths", templateOf(path), method.toLowerCase(), "responses")
      for (const code of codes) {
        const response = responses[String(errorCodes[code].status)] as Json
        assert.include(String(response["description"]), `\`${code}\``, id)
        const body = { error: { code, message: "no" }, request_id: "req_1" }
        const schema = at(response, "content", "application/json", "schema")
        assert.deepStrictEqual(contract.faultsOf(schema, body), [])
        assert.isNotEmpty(contract.faultsOf(schema, { ...body, error: { code: "no_such_code", message: "no" } }))
      }
    }
  })

  it("has examples that its own schemas, our schemas and our rules all accept", () => {
    const decoders = {
      "/v1/audio/speech": Schema.decodeUnknownSync(SpeechRequest),
      "/v1/audio/stream": Schema.decodeUnknownSync(StreamRequest),
      "/v1/audio/stream/with-timestamps": Schema.decodeUnknownSync(StreamRequest),
      "/v1/audio/dialogue": Schema.decodeUnknownSync(DialogueRequest)
    } as const
    for (const { path, body } of operations) {
      if (body === undefined) continue
      const schema = at(document, "components", "schemas", body.schema)
      assert.deepStrictEqual(contract.faultsOf(schema, body.example), [], path)
      if (!Object.hasOwn(decoders, path)) continue
      const request = decoders[path as SpeechRoute](body.example)
      const turns = "turns" in request ? request.turns : [request]
      const plan = planSpeech(
        { ...request, turns },
        { route: path as SpeechRoute, accept: "*/*", charactersMax: 2_000, findVoice: sharedSpeakable }
      )
      assert.strictEqual(plan._tag, "Success", path)
    }
  })

  it("has an example of a form that our own rules accept, and a limit for each of its parts", () => {
    const { body } = operations.find(({ id }) => id === "createVoice") ?? {}
    const [fields, files] = [new Map<string, string>(), new Map<string, FormFile>()]
    for (const [name, value] of Object.entries(body?.example ?? {})) {
      const text = String(value)
      if (text.startsWith("@")) files.set(name, { path: text, bytes: 1, sha256: "", fileName: text, contentType: "" })
      else fields.set(name, text)
    }
    const form = { fields: Object.fromEntries(fields), files: Object.fromEntries(files), fingerprint: "" }
    assert.strictEqual(readVoiceForm(form, { _tag: "Challenge", used: usedChallenge() })._tag, "Success")
    const named = Object.keys(at(document, "components", "schemas", "VoiceForm", "properties"))
    const limited = [...Object.keys(voiceFormSpec.fields), ...Object.keys(voiceFormSpec.files)]
    assert.sameMembers(named, limited)
  })

  it("names the existing formats and models", () => {
    const enumOf = (schema: string, field: string) =>
      at(document, "components", "schemas", schema, "properties", field)["enum"]
    assert.deepStrictEqual(
      enumOf("SpeechRequest", "output_format"),
      audioFormats.map(({ name }) => name)
    )
    assert.notInclude(enumOf("StreamRequest", "output_format") as Array<string>, "wav_24000")
    for (const { id, isDialogue } of speechModels) {
      assert.include(enumOf(isDialogue ? "DialogueRequest" : "SpeechRequest", "model") as Array<string>, id)
    }
  })

  it("is kept in docs, beside a page with every route, code, format and model", () => {
    const paths = generatedDocuments().map(({ path }) => path)
    assert.includeMembers(paths, ["docs/speech-openapi.json", "docs/speech-api.md"])
    const page = speechApiPage()
    for (const { path } of operations) assert.include(page, path)
    for (const name of [...Object.keys(errorCodes), ...audioFormats.map(({ name }) => name)]) {
      assert.include(page, `\`${name}\``)
    }
    for (const { id } of speechModels) assert.include(page, `\`${id}\``)
    const anchors = new Set(
      [...page.matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/gu, "")
          .replaceAll(" ", "-")
      )
    )
    for (const [, anchor = ""] of page.matchAll(/\]\(#([^)]+)\)/gu)) assert.isTrue(anchors.has(anchor), anchor)
  })
})

describe("the lists in the OpenAPI document", () => {
  it("match their schemas", () => {
    Schema.decodeSync(ModelList)(modelList)
    Schema.decodeSync(Schema.Array(Voice))(sharedVoices.map(voiceBody))
    const page = pageOfVoices(sharedVoices, { limit: "3" })
    Schema.decodeUnknownSync(VoiceList)(page._tag === "Success" ? page.success : undefined)
  })

  it("mark one default model and one recommended", () => {
    assert.strictEqual(modelList.models.filter((model) => model.default).length, 1)
    assert.strictEqual(modelList.models.filter((model) => model.recommended).length, 1)
    assert.deepStrictEqual(
      modelList.dialogue_models.map(({ endpoints }) => endpoints),
      [["/v1/audio/dialogue"]]
    )
  })
})
