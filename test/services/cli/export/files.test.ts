import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Result } from "effect"
import { envelopeSchemaOf, exampleEnvelopeOf, readEventType } from "#events"
import { decodeEventType } from "#events/contract"
import { exportedFiles } from "../../../../services/cli/export/files.ts"
import { shapeOf } from "../../../../services/cli/export/shape.ts"

const folder = mkdtempSync(join(tmpdir(), "starling-types-export-"))
afterAll(() => rmSync(folder, { recursive: true }))

const order = {
  type: "object",
  properties: {
    orderId: { type: "string", description: 'Ends no comment: */ \u2028 " \\' },
    "total-amount": { type: ["integer", "null"] },
    currency: { enum: ["EUR", "USD"] },
    lines: { type: "array", items: { $ref: "#/$defs/line" } },
    tags: { type: "object", additionalProperties: { type: "string" } }
  },
  required: ["orderId", "lines"],
  $defs: {
    line: {
      type: "object",
      properties: {
        sku: { type: "string" },
        count: { type: "integer" },
        parts: { type: "array", items: { $ref: "#/$defs/line" } }
      },
      required: ["sku"]
    }
  }
}
const example = { orderId: "A-1", lines: [{ sku: "x", count: 2 }], currency: "EUR" }

const typeOf = (entry: object) => {
  const type = Result.getOrThrow(Result.flatMap(decodeEventType(entry), readEventType))
  const { name, description = "", schemaVersion, schema } = type
  return {
    event: name,
    firedWhen: description,
    schemaVersion,
    schema: envelopeSchemaOf(type),
    details: schema,
    example: exampleEnvelopeOf(type)
  }
}
const types = [
  { Name: "order.paid", Owners: ["a"], Description: "an order is paid */", Schema: order, Example: example },
  { Name: "order_paid", Owners: ["a"] },
  { Name: "none", Owners: ["a"], Schema: { anyOf: [{ type: "string" }, { type: "object", required: ["class"] }] } },
  { Name: "2fa.sent", Owners: ["a"], Schema: { type: "object", properties: { ok: { const: true } } } }
].map(typeOf)
const files = new Map(exportedFiles(types).map(({ path, content }) => [path, content]))
for (const [path, content] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const parsed = (path: string) => JSON.parse(files.get(path) ?? "") as Record<string, unknown>

describe("an export of event types", () => {
  it("has a schema of each, by which an independent validator takes its example and refuses other details", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
    const validate = ajv.compile(parsed("schemas/order.paid.schema.json"))
    const good = types[0]?.example ?? {}
    assert.isTrue(validate(good), JSON.stringify(validate.errors))
    assert.isFalse(validate({ ...good, event: "order.lost" }))
    assert.isFalse(validate({ ...good, details: { orderId: 7, lines: [] } }))
    assert.isFalse(validate({ ...good, details: undefined }))
  })

  it("has an AsyncAPI 3.0 document whose references all resolve", () => {
    const document = parsed("asyncapi.json")
    assert.strictEqual(document["asyncapi"], "3.0.0")
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/gu)].map(
      ([, reference = ""]) => reference
    )
    assert.isAbove(references.length, 20)
    for (const reference of references) {
      const [file = "", place = ""] = reference.split("#")
      const target = place
        .split("/")
        .slice(1)
        .reduce<unknown>(
          (value, part) => (value as Record<string, unknown> | undefined)?.[part],
          file === "" ? document : parsed(file)
        )
      assert.isDefined(target, reference)
    }
  })

  it("has TypeScript that compiles, and tells right from wrong", () => {
    const use = `import type { Event, OrderPaid } from "./events.ts"
import { verify } from "./verify.ts"
export const good: OrderPaid["details"] = { orderId: "A-1", lines: [{ sku: "x" }], currency: "EUR", "total-amount": null }
// @ts-expect-error: it has no currency of that name
export const wrong: OrderPaid["details"] = { orderId: "A-1", lines: [], currency: "XXX" }
// @ts-expect-error: an order has lines
export const short: OrderPaid["details"] = { orderId: "A-1" }
export const skuOf = (event: Event) => (event.event === "order.paid" ? event.details.lines[0]?.sku : undefined)
export const isGood: Promise<boolean> = verify("", {}, "")
`
    writeFileSync(join(folder, "use.ts"), use)
    const options = [
      "--noEmit",
      "--strict",
      "--target",
      "es2024",
      "--lib",
      "es2024,dom",
      "--module",
      "nodenext",
      "--types",
      ""
    ]
    const tsc = join(import.meta.dirname, "../../../../node_modules/typescript/bin/tsc")
    const ran = spawnSync(process.execPath, [tsc, ...options, "--allowImportingTsExtensions", "use.ts"], {
      cwd: folder,
      encoding: "utf8"
    })
    assert.strictEqual(ran.stdout, "")
  })

  it.skipIf(spawnSync("python3", ["-c", "from typing import NotRequired"]).status !== 0)("has Python that runs", () => {
    const use = `
from typing import get_args
from events import Event, OrderPaidDetails
from verify import verify
assert sorted(OrderPaidDetails.__required_keys__) == ["lines", "orderId"], OrderPaidDetails.__required_keys__
assert len(get_args(Event)) == 4
assert verify("", {}, b"") is False
`
    execFileSync("python3", ["-c", use], { cwd: folder, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" } })
  })

  it.each([
    ["a reference to itself", { $ref: "#" }],
    ["a reference that points nowhere", { $ref: "#/$defs/gone" }],
    ["an anchor", { $ref: "#here" }],
    ["nothing", {}],
    ["a number beyond all", { anyOf: [{ type: "string" }, true] }]
  ])("knows nothing of %s", (_, schema) => {
    assert.deepStrictEqual(shapeOf(schema), { kind: "unknown" })
  })
})
