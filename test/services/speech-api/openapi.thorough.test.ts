import { assert, describe, it } from "@effect/vitest"
import { Context, Option, Schema } from "effect"
import { audioFormats } from "#speech/audio"
import { outputFormats, speechModels, streamedFormats, streamedMediaTypes } from "#speech/contract"
import { BodyExample, bodyOf, NeededScopes, refusalsOf } from "#base/http"
import {
  AudioGroup,
  CartesiaGroup,
  DialogueRequest,
  ElevenLabsGroup,
  ModelList,
  speechErrorCodes,
  SpeechHttpApi,
  SpeechRequest,
  StreamRequest,
  Voice,
  VoiceList,
  VoicesGroup
} from "#speech/api"
import { endpointsOf, type FormFile, templateOf, WireError } from "#http"
import { catalogueOf, sharedVoices } from "#speech"
import { generatedDocuments } from "../../../services/fleet/documents.ts"
import { modelList } from "../../../services/speech-api/http/audio.ts"
import { speechDocuments } from "../../../services/speech-api/documents.ts"
import { renderSpeechError } from "../../../services/speech-api/refusals.ts"
import { speechRoutes } from "../../../services/speech-api/role.ts"
import { planSpeech, type SpeechRoute } from "../../../services/speech-api/speaking/plan.ts"
import { cartesiaRefusal } from "../../../services/speech-api/vendors/cartesia.ts"
import { elevenLabsRefusal } from "../../../services/speech-api/vendors/elevenlabs.ts"
import { readVoiceForm, voiceFormSpec } from "../../../services/speech-api/voices/form.ts"
import { pageOfVoices, voiceBody } from "../../../services/speech-api/voices/list.ts"
import { sharedSpeakable } from "../../../services/speech-api/voices/speakable.ts"
import { at, contractOf, type Json, refsIn, resolved, wholeOf } from "../../support/openapi-answers.ts"
import { assertPromisesKept } from "../../support/openapi-promises.ts"
import { usedChallenge } from "./voices/records.ts"

// As callers get it: without anything that JSON lacks.
const document = JSON.parse(JSON.stringify(speechDocuments.openApi())) as Json
const contract = contractOf(document)
const endpoints = endpointsOf(SpeechHttpApi)
const vendors = [
  [ElevenLabsGroup, elevenLabsRefusal],
  [CartesiaGroup, cartesiaRefusal]
] as const
const ofVendors = new Set<string>(vendors.flatMap(([{ endpoints }]) => Object.keys(endpoints)))
const ownEndpoints = endpoints.filter(({ identifier }) => !ofVendors.has(identifier))
const described = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
  Object.entries(item as Json).map(([method, operation]) => ({ path, method, operation: operation as Json }))
)

describe("the speech API's OpenAPI document", () => {
  it("describes the existing routes, and no others", () => {
    assert.sameMembers(
      described.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
      speechRoutes.map(({ method, path }) => `${method} ${templateOf(path)}`)
    )
  })

  it("keeps every promise to its callers", () => {
    assertPromisesKept(document, new URL("openapi-promises.txt", import.meta.url), 600)
  })

  it("resolves every reference, and uses every schema", () => {
    const refs = new Set(refsIn(document))
    for (const ref of refs) assert.isDefined(resolved(document, ref), ref)
    for (const name of Object.keys(at(document, "components", "schemas"))) {
      assert.isTrue(refs.has(`#/components/schemas/${name}`), `${name} is not used`)
    }
  })

  it("gives every operation a name of its own, responses, and a parameter for each part of its path", () => {
    const names = new Set(described.map(({ operation }) => operation["operationId"]))
    assert.strictEqual(names.size, described.length)
    for (const { path, operation } of described) {
      const responses = at(operation, "responses")
      assert.includeMembers(Object.keys(responses), ["500", "default"], path)
      assert.strictEqual(Object.keys(responses).filter((status) => status.startsWith("2")).length, 1, path)
      for (const response of Object.values(responses)) {
        assert.isNotEmpty(wholeOf(document, response as Json)["description"])
      }
      const named = (operation["parameters"] as ReadonlyArray<Json>).filter((parameter) => parameter["in"] === "path")
      const parts = [...path.matchAll(/\{(\w+)\}/gu)].map(([, name]) => name)
      assert.deepStrictEqual(
        named.map(({ name }) => name),
        parts
      )
    }
  })

  it("lists every code at its own status", () => {
    for (const endpoint of ownEndpoints) {
      const responses = at(document, "paths", templateOf(endpoint.path), endpoint.method.toLowerCase(), "responses")
      for (const code of refusalsOf(endpoint).flatMap(({ codes }) => codes)) {
        const { status } = speechErrorCodes[code as keyof typeof speechErrorCodes]
        const response = wholeOf(document, responses[String(status)] as Json)
        assert.include(String(response["description"]), `\`${code}\``, endpoint.identifier)
        const body = renderSpeechError(new WireError({ status, code, message: "no" }), "req_1") as {
          readonly error: object
        }
        const schema = at(response, "content", "application/json", "schema")
        assert.deepStrictEqual(contract.faultsOf(schema, body), [])
        assert.isNotEmpty(contract.faultsOf(schema, { ...body, error: { ...body.error, code: "no_such_code" } }))
      }
    }
  })

  it("describes a vendor's refusals as its routes write them", () => {
    const codes = Object.entries(speechErrorCodes).filter(([code]) => code !== "internal_error")
    const all = vendors.flatMap(([group, refusal]) =>
      Object.values(group.endpoints).map(({ method, path }) => ({ method, path, refusal }))
    )
    for (const { method, path, refusal } of all) {
      const responses = at(document, "paths", templateOf(path), method.toLowerCase(), "responses")
      const described = codes.filter(([code, { status }]) => {
        const { body, status: told } = refusal(new WireError({ status, code, message: "no" }), "req_1")
        const response = responses[String(told)] as Json | undefined
        const schema = response && at(wholeOf(document, response), "content", "application/json", "schema")
        return schema !== undefined && contract.faultsOf(schema, body).length === 0
      })
      assert.includeMembers(
        described.map(([code]) => code),
        ["validation_failed", "unauthorized", "insufficient_scope", "rate_limited", "service_unavailable"],
        path
      )
    }
  })

  it("lists the refusals of a token on every route that takes one", () => {
    const taking = ownEndpoints.filter(({ annotations }) => Option.isSome(Context.getOption(annotations, NeededScopes)))
    assert.lengthOf(taking, ownEndpoints.length - 2)
    for (const endpoint of taking) {
      assert.includeMembers(
        refusalsOf(endpoint).flatMap(({ codes }) => [...codes]),
        ["invalid_api_version", "unauthorized", "insufficient_scope", "internal_error", "service_unavailable"],
        endpoint.identifier
      )
    }
  })

  it("has an example of every body, valid by the document and by the endpoint's schema", () => {
    const taking = endpoints.filter((endpoint) => bodyOf(endpoint).body !== undefined)
    assert.lengthOf(taking, 15)
    for (const endpoint of taking) {
      const example = exampleOf(endpoint)
      assert.isTrue(Schema.is(bodyOf(endpoint).body as unknown as Schema.Codec<unknown>)(example), endpoint.identifier)
      const operation = at(
        document,
        "paths",
        templateOf(endpoint.path),
        endpoint.method.toLowerCase(),
        "requestBody",
        "content"
      )
      for (const { schema } of Object.values(operation) as ReadonlyArray<Json>) {
        assert.deepStrictEqual(contract.faultsOf(schema, example), [], endpoint.identifier)
      }
    }
  })

  it.each([
    [AudioGroup.endpoints.createSpeech, SpeechRequest],
    [AudioGroup.endpoints.streamSpeech, StreamRequest],
    [AudioGroup.endpoints.streamSpeechWithTimestamps, StreamRequest],
    [AudioGroup.endpoints.createDialogue, DialogueRequest]
  ] as const)("has an example for $identifier that our own rules accept", (endpoint, schema) => {
    const request = Schema.decodeUnknownSync(schema as typeof StreamRequest | typeof DialogueRequest)(
      exampleOf(endpoint)
    )
    const turns = "turns" in request ? request.turns : [request]
    const route = endpoint.path as SpeechRoute
    const options = {
      route,
      accept: "*/*",
      charactersMax: 2_000,
      findVoice: sharedSpeakable(catalogueOf([])),
      textNormalization: true
    }
    assert.strictEqual(planSpeech({ ...request, turns }, options)._tag, "Success")
  })

  it("has an example of a form that our own rules accept, and a limit for each of its parts", () => {
    const [fields, files] = [new Map<string, string>(), new Map<string, FormFile>()]
    for (const [name, value] of Object.entries(exampleOf(VoicesGroup.endpoints.createVoice))) {
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

  it("names the existing formats, media types and models", () => {
    const streamed = audioFormats.filter(({ isStreamable }) => isStreamable)
    assert.deepStrictEqual<ReadonlyArray<string>>(
      outputFormats,
      audioFormats.map(({ name }) => name)
    )
    assert.deepStrictEqual(
      streamedFormats,
      streamed.map(({ name }) => name)
    )
    assert.sameMembers(
      [...streamedMediaTypes],
      [...new Set(streamed.map(({ mediaType }) => mediaType.split(";")[0] ?? ""))]
    )
    // Beside null, which every optional field takes.
    const enumOf = (schema: string, field: string) =>
      at(document, "components", "schemas", schema, "properties", field, "anyOf", "0")["enum"]
    assert.deepStrictEqual(enumOf("SpeechRequest", "output_format"), outputFormats)
    assert.deepStrictEqual(enumOf("StreamRequest", "output_format"), streamedFormats)
    for (const { id, isDialogue } of speechModels) {
      assert.include(enumOf(isDialogue ? "DialogueRequest" : "SpeechRequest", "model") as Array<string>, id)
    }
  })
})

describe("the speech API's page", () => {
  it("is kept in docs beside the document", () => {
    const paths = generatedDocuments().map(({ path }) => path)
    assert.includeMembers(paths, ["docs/speech-openapi.json", "docs/speech-api.md"])
  })

  it("has every route, code, format and model", () => {
    for (const page of [speechDocuments.page(), speechDocuments.servedPage()]) {
      for (const { method, path } of endpoints) assert.include(page, `\`${method} ${path}\``)
      for (const code of Object.keys(speechErrorCodes)) assert.include(page, `| \`${code}\` |`)
      for (const name of [...outputFormats, ...speechModels.map(({ id }) => id)]) assert.include(page, `\`${name}\``)
    }
  })

  it("links to headings that it has", () => {
    const page = speechDocuments.page()
    const anchors = new Set(
      [...page.matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) =>
        heading
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/gu, "")
          .replaceAll(" ", "-")
      )
    )
    const links = [...page.matchAll(/\]\(#([^)]+)\)/gu)]
    assert.isAbove(links.length, endpoints.length)
    for (const [, anchor = ""] of links) assert.isTrue(anchors.has(anchor), anchor)
  })

  it("shows a form as curl sends one, and where bytes go", () => {
    const page = speechDocuments.page()
    assert.include(page, "-F 'sample=@sample.wav'")
    assert.include(
      page,
      `curl "$SPEECH/v1/voices/$VOICE_ID/sample" \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -o "$FILE"`
    )
    assert.include(page, `curl -N "$SPEECH/v1/audio/stream/with-timestamps"`)
  })
})

describe("the lists of voices and models", () => {
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

const exampleOf = ({ annotations }: { readonly annotations: Context.Context<never> }) =>
  Option.getOrThrow(Context.getOption(annotations, BodyExample))
