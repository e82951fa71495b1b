import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Schema } from "effect"
import { CommandAnswer, commandEntities, PickupAnswer, PickupQuestion, reportKinds } from "#pipeline/contract"
import { example, faultPaths, kinds } from "../report-material.ts"

describe("the AsyncAPI document", () => {
  const document = JSON.parse(readFileSync("docs/asyncapi.json", "utf8")) as {
    readonly channels: Record<string, { readonly address: string | null }>
    readonly operations: Record<string, object>
    readonly components: { readonly messages: Record<string, object>; readonly schemas: Record<string, object> }
  }

  it("has a channel, an operation and a message for each report, for commands and for pickup", () => {
    for (const kind of kinds) {
      assert.strictEqual(document.channels[`report.${kind}`]?.address, `reports.${kind}`)
      assert.property(document.operations, `publish.report.${kind}`)
      assert.property(document.components.messages, `report.${kind}`)
    }
    for (const entity of ["workitem", "release", "project", "agent", "queue"]) {
      assert.strictEqual(document.channels[`command.${entity}`]?.address, `commands.${entity}`)
      assert.property(document.operations, `ask.command.${entity}`)
    }
    assert.strictEqual(document.channels["pickup"]?.address, "pickup.next.{agentKind}")
    assert.strictEqual(document.channels["held"]?.address, "pickup.held")
    assert.property(document.operations, "ask.held")
  })

  it("gives each thing a name of its own", () => {
    const schemas: ReadonlyArray<Schema.Codec<unknown, unknown>> = [
      ...Object.values(reportKinds).map(({ schema }) => schema),
      ...Object.values(commandEntities).map(({ schema }) => schema),
      PickupQuestion,
      PickupAnswer,
      CommandAnswer
    ]
    const seen = new Map<string, string>()
    for (const schema of schemas) {
      for (const [name, definition] of Object.entries(Schema.toJsonSchemaDocument(schema).definitions)) {
        const text = JSON.stringify(definition)
        assert.strictEqual(seen.get(name) ?? text, text, name)
        seen.set(name, text)
      }
    }
    assert.includeMembers([...seen.keys()], ["WorkItem", "PickupDispatch"])
  })

  it("agrees with decoding, by an independent validator", () => {
    const ajv = new Ajv2020({ strict: false, code: { optimize: false } })
    ajv.addFormat("uuid", true)
    ajv.addSchema({ $id: "doc", components: document.components })
    for (const kind of kinds) {
      const validate = ajv.compile({ $ref: `doc#/components/schemas/report.${kind}` })
      const good = example(kind)
      assert.isTrue(validate(good), `${kind}: ${JSON.stringify(validate.errors)}`)
      for (const key of Object.keys(good)) {
        const { [key]: _removed, ...rest } = good
        assert.strictEqual(validate(rest), faultPaths(kind, rest).length === 0, `${kind} without ${key}`)
        const wrong = { ...good, [key]: { at: "sea" } }
        assert.strictEqual(validate(wrong), faultPaths(kind, wrong).length === 0, `${kind} with a wrong ${key}`)
      }
    }
  })
})
