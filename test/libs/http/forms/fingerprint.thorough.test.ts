import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { FormFiles, type FormSpec } from "#http"
import { formFingerprint, jsonFingerprint } from "../../../../libs/http/idempotency/record.ts"
import { contentType, packed, reading } from "./forms.ts"

const root = mkdtempSync(join(tmpdir(), "starling-form-tests-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const Letters = Schema.String.check(Schema.isPattern(/^[a-z]{1,8}$/u))
const Parts = Schema.Array(Schema.Struct({ name: Letters, body: Schema.String, isFile: Schema.Boolean })).check(
  Schema.isMaxLength(5)
)

describe("a form's fingerprint", () => {
  it.effect.prop("depends on names and contents alone", [Parts, Letters, Schema.Int], ([parts, boundary, turn]) =>
    Effect.gen(function* () {
      const open: FormSpec = { fields: {}, files: {}, bytesMax: 1_000_000 }
      const pack = (list: typeof parts, names: string, border: string) =>
        packed(
          list.map((part) => ({ ...part, ...(part.isFile ? { fileName: names, type: `audio/${names}` } : {}) })),
          border
        )
      const print = (body: Buffer, border: string, pieceBytes: number) =>
        reading(open, body, { "content-type": contentType(border) }, pieceBytes).pipe(
          Effect.map(({ fingerprint }) => fingerprint),
          Effect.scoped,
          Effect.provide(FormFiles.layer({ folder: root }))
        )
      const by = parts.length === 0 ? 0 : Math.abs(turn % parts.length)
      const turned = [...parts.slice(by), ...parts.slice(0, by)]
      const [one, other] = [`one.${boundary}.0`, `two.${boundary}.1`]
      const first = yield* print(pack(parts, "blob", one), one, 65_536)
      assert.strictEqual(yield* print(pack(turned, "tmp", other), other, 5), first)
      assert.strictEqual(formFingerprint(turned.map(({ name, body }) => ({ name, sha256: sha256(body) }))), first)
      const more = yield* print(pack([...parts, { name: "a", body: "", isFile: false }], "blob", one), one, 65_536)
      assert.notStrictEqual(more, first)
    })
  )

  it("distinguishes forms that only look alike", () => {
    const prints = [
      formFingerprint([]),
      formFingerprint([{ name: "a", sha256: "b" }]),
      formFingerprint([{ name: 'a","b', sha256: "" }]),
      formFingerprint([
        { name: "a", sha256: "b" },
        { name: "a", sha256: "b" }
      ]),
      jsonFingerprint({}),
      jsonFingerprint({ a: 1 }),
      jsonFingerprint({ a: "1" }),
      jsonFingerprint({ a: [1, 2] }),
      jsonFingerprint({ a: [2, 1] })
    ]
    assert.strictEqual(new Set(prints).size, prints.length)
    assert.strictEqual(jsonFingerprint({ a: 1, b: { c: 2, d: 3 } }), jsonFingerprint({ b: { d: 3, c: 2 }, a: 1 }))
  })
})
