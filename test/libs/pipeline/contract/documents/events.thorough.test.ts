import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Result } from "effect"
import { contractDocuments } from "#pipeline/contract"
import { decodeEnvelope, eventCatalogue, exampleEnvelope } from "#base"

const faultPaths = (input: unknown) => {
  const decoded = decodeEnvelope(input)
  return Result.isFailure(decoded) ? decoded.failure.map((fault) => fault.path) : []
}

describe("the generated documents", () => {
  const documents = contractDocuments()
  const parsed = new Map(documents.map(({ path, content }) => [path, JSON.parse(content) as Record<string, unknown>]))

  it("are on disk as the schemas make them", () => {
    for (const { path, content } of documents) {
      assert.strictEqual(readFileSync(path, "utf8"), content, `${path} is stale: run ./starling docs`)
    }
  })

  it("agree with decoding, by an independent validator", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    ajv.addFormat("uuid", true)
    ajv.addSchema(parsed.get("docs/events/shared.schema.json") ?? {})
    for (const { name } of eventCatalogue) {
      const validate = ajv.compile(parsed.get(`docs/events/${name}.schema.json`) ?? {})
      const good = exampleEnvelope(name) ?? {}
      assert.isTrue(validate(good), `${name}: ${JSON.stringify(validate.errors)}`)
      for (const key of Object.keys(good)) {
        const { [key]: _removed, ...rest } = good
        assert.strictEqual(validate(rest), faultPaths(rest).length === 0, `${name} without ${key}`)
        const wrong = { ...good, [key]: 17 }
        assert.strictEqual(validate(wrong), faultPaths(wrong).length === 0, `${name} with ${key} = 17`)
      }
    }
  })

  it("hold an AsyncAPI 3.0 document whose references all resolve", () => {
    const document = parsed.get("docs/asyncapi.json") ?? {}
    assert.strictEqual(document["asyncapi"], "3.0.0")
    assert.containsAllKeys(document, ["info", "channels", "operations", "components"])
    const all = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/gu)].map(([, reference = ""]) => reference)
    const files = all.filter((reference) => !reference.startsWith("#"))
    assert.lengthOf(files, eventCatalogue.length)
    for (const file of files) assert.isDefined(parsed.get(`docs/${file}`), file)
    const references = all.flatMap((reference) => (reference.startsWith("#") ? [reference.slice(1)] : []))
    assert.isAbove(references.length, 300)
    for (const reference of new Set(references)) {
      const target = reference
        .split("/")
        .slice(1)
        .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], document)
      assert.isDefined(target, reference)
    }
  })
})
