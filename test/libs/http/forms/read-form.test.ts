import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pid } from "node:process"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Result } from "effect"
import { FormFiles, type FormSpec, type WireError } from "#http"
import type { CannotKeepFiles } from "../../../../libs/http/forms/FormFiles.ts"
import { contentType, packed, type Part, reading } from "./forms.ts"

const root = mkdtempSync(join(tmpdir(), "starling-form-tests-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const spec: FormSpec = {
  fields: { name: { bytesMax: 20 }, locale: { bytesMax: 20 } },
  files: { sample: { bytesMax: 1_000 } },
  bytesMax: 5_000,
  partsMax: 6
}
const name: Part = { name: "name", body: "Ann" }
const sample: Part = { name: "sample", body: "x".repeat(300), fileName: "blob", type: "application/octet-stream" }
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const read = (body: Uint8Array, headers: Readonly<Record<string, string>> = {}, pieceBytes?: number) =>
  reading(spec, body, headers, pieceBytes).pipe(Effect.scoped, Effect.provide(FormFiles.layer({ folder: root })))

const refusal = (body: Uint8Array, headers: Readonly<Record<string, string>> = {}, pieceBytes?: number) =>
  Effect.map(Effect.result(read(body, headers, pieceBytes)), (result) => {
    if (Result.isSuccess(result)) throw new Error(`was taken: ${JSON.stringify(result.success)}`)
    return result.failure
  })

const brief = (failed: WireError | CannotKeepFiles) => {
  if (failed._tag === "CannotKeepFiles") return failed
  const { status, code, fields, details } = failed
  return {
    status,
    code,
    ...(fields === undefined ? {} : { fields }),
    ...(details === undefined ? {} : { details })
  }
}

describe("a multipart form", () => {
  it.effect("is read into texts and files, for any cut into pieces", () =>
    Effect.gen(function* () {
      const parts = [
        name,
        { ...sample, body: Buffer.from("\r\n--b0un\r\n--b0un\r\r\n-") },
        { name: "locale", body: "" }
      ]
      const whole = yield* read(packed(parts))
      assert.deepStrictEqual(whole.fields, { name: "Ann", locale: "" })
      assert.deepInclude(whole.files["sample"], { bytes: 20, fileName: "blob", contentType: sample.type })
      assert.strictEqual(whole.files["sample"]?.sha256, sha256(parts[1]?.body ?? ""))
      for (const pieceBytes of [1, 2, 3, 7, 64]) {
        const cut = yield* read(packed(parts), {}, pieceBytes)
        assert.deepStrictEqual(cut.fields, whole.fields)
        assert.strictEqual(cut.files["sample"]?.sha256, whole.files["sample"]?.sha256)
        assert.strictEqual(cut.fingerprint, whole.fingerprint)
      }
    })
  )

  it.effect("leaves files that only their owner may read, and removes them with the call", () =>
    Effect.gen(function* () {
      const path = yield* Effect.scoped(
        Effect.gen(function* () {
          const form = yield* reading(spec, packed([name, sample]), {}, 7)
          const path = form.files["sample"]?.path ?? ""
          assert.strictEqual(readFileSync(path, "utf8"), sample.body)
          assert.strictEqual(statSync(path).mode & 0o777, 0o600)
          for (const folder of [join(path, ".."), join(path, "../..")]) {
            assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
          }
          return path
        })
      )
      assert.throws(() => statSync(path), "ENOENT")
      assert.throws(() => statSync(join(path, "..")), "ENOENT")
      assert.isTrue(statSync(join(path, "../..")).isDirectory())
    }).pipe(Effect.provide(FormFiles.layer({ folder: root })), Effect.scoped)
  )

  it.effect("accepts the names and types that clients invent, and a file without a name", () =>
    Effect.gen(function* () {
      const unnamed = yield* read(packed([{ name: "sample", body: "RIFF", type: "audio/wav" }]))
      assert.deepInclude(unnamed.files["sample"], { bytes: 4, fileName: undefined, contentType: "audio/wav" })
      const typed = yield* read(packed([{ ...name, type: "text/plain; charset=utf-8" }]))
      assert.deepStrictEqual(typed.fields, { name: "Ann" })
      const notChosen = yield* read(packed([{ ...sample, body: "", fileName: "" }]))
      assert.deepStrictEqual(notChosen.files, {})
      assert.strictEqual(notChosen.fingerprint, (yield* read(packed([]))).fingerprint)
      const quoted = yield* read(packed([name]).subarray(), { "content-type": 'Multipart/Form-Data; Boundary="b0und"' })
      assert.deepStrictEqual(quoted.fields, { name: "Ann" })
    })
  )

  it.effect("skips unknown parts, a preamble and an epilogue, but counts the parts", () =>
    Effect.gen(function* () {
      const unknown: Part = { name: "__proto__", body: "?".repeat(50), fileName: "a" }
      const form = yield* read(
        Buffer.concat([Buffer.from("preamble\r\n"), packed([name, unknown]), Buffer.from("x\r\n--b0und\r\n\r\n\r\n")])
      )
      assert.deepStrictEqual(form.fields, { name: "Ann" })
      assert.deepStrictEqual(form.files, {})
      assert.notStrictEqual(form.fingerprint, (yield* read(packed([name]))).fingerprint)
      assert.notStrictEqual(form.fingerprint, (yield* read(packed([name, { ...unknown, body: "!" }]))).fingerprint)
    })
  )

  const many = Array.from({ length: 7 }, (_, n) => ({ name: `x${n}`, body: "" }))
  const head = (line: string) => Buffer.from(`--b0und\r\n${line}\r\n\r\nAnn\r\n--b0und--\r\n`)
  const disposition = 'Content-Disposition: form-data; name="name"'
  const tooLarge = (bytes_max: number, part?: string) => ({
    status: 413,
    code: "payload_too_large",
    details: { bytes_max, ...(part === undefined ? {} : { part }) }
  })
  const invalid = (fields: Record<string, string>) => ({ status: 400, code: "validation_failed", fields })
  const bad = { status: 400, code: "bad_request" }
  const refused: ReadonlyArray<readonly [string, Buffer, object, Record<string, string>?]> = [
    ["a text over its limit", packed([{ name: "name", body: "x".repeat(21) }]), tooLarge(20, "name")],
    ["a file over its limit", packed([{ ...sample, body: "x".repeat(1_001) }]), tooLarge(1_000, "sample")],
    ["a body over its limit", packed([{ name: "other", body: "x".repeat(5_000) }]), tooLarge(5_000)],
    ["a body announced as too large", packed([name]), tooLarge(5_000), { "content-length": "5001" }],
    ["too many parts", packed(many), { status: 413, code: "payload_too_large", details: { parts_max: 6 } }],
    ["a field given twice", packed([name, name]), invalid({ name: "is given more than once" })],
    ["a file given twice", packed([sample, sample]), invalid({ sample: "is given more than once" })],
    ["a file for a text", packed([{ ...name, fileName: "a.txt" }]), invalid({ name: "must be text, not a file" })],
    ["a text for a file", packed([{ name: "sample", body: "hello" }]), invalid({ sample: "must be a file" })],
    [
      "a text that is not UTF-8",
      packed([{ name: "name", body: Buffer.from([0xff]) }]),
      invalid({ name: "is not UTF-8" })
    ],
    ["another charset", packed([{ ...name, type: "text/plain; charset=latin1" }]), invalid({ name: "must be UTF-8" })],
    [
      "several faults, all told",
      packed([{ name: "sample", body: "hello" }, name, name, { name: "locale", body: Buffer.from([0xc0]) }]),
      invalid({ sample: "must be a file", name: "is given more than once", locale: "is not UTF-8" })
    ],
    ["no boundary", packed([name]), bad, { "content-type": "multipart/form-data" }],
    ["an empty boundary", packed([name]), bad, { "content-type": 'multipart/form-data; boundary=""' }],
    ["an endless boundary", packed([name]), bad, { "content-type": contentType("b".repeat(129)) }],
    ["another boundary than the body's", packed([name]), bad, { "content-type": contentType("other") }],
    ["an empty body", Buffer.alloc(0), bad],
    ["a body that breaks off in a part", packed([name, sample]).subarray(0, 200), bad],
    ["a body without its last boundary", packed([name], "b0und", false), bad],
    ["a part without a disposition", head("Content-Type: text/plain"), bad],
    ["a part without a name", head("Content-Disposition: form-data"), bad],
    ["a part that is an attachment", head('Content-Disposition: attachment; name="name"'), bad],
    ["a part with two dispositions", head(`${disposition}\r\n${disposition}`), bad],
    ["a malformed header", head("Content Disposition: form-data"), bad],
    [
      "another media type",
      packed([name]),
      { status: 415, code: "unsupported_media_type" },
      { "content-type": "application/json" }
    ],
    ["a packed body", packed([name]), { status: 415, code: "unsupported_media_type" }, { "content-encoding": "gzip" }]
  ]
  for (const [what, body, expected, headers] of refused) {
    it.effect(`is refused for ${what}`, () =>
      Effect.gen(function* () {
        for (const pieceBytes of [65_536, 11]) {
          assert.deepStrictEqual(brief(yield* refusal(body, headers, pieceBytes)), expected as never)
        }
      })
    )
  }

  it.effect("is refused for a part with too many headers, even below the body's limit", () =>
    Effect.gen(function* () {
      const roomy = { ...spec, bytesMax: 100_000 }
      const failed = yield* reading(roomy, head(`${disposition}\r\nX: ${"y".repeat(17_000)}`)).pipe(
        Effect.scoped,
        Effect.provide(FormFiles.layer({ folder: root })),
        Effect.flip
      )
      assert.deepStrictEqual(brief(failed), {
        status: 413,
        code: "payload_too_large",
        details: { part_header_bytes_max: 16_384 }
      })
    })
  )

  it.effect("leaves nothing on disk when it is refused", () =>
    Effect.gen(function* () {
      const folder = join(root, "refused")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const exit = yield* Effect.exit(
            Effect.scoped(reading(spec, packed([sample, { name: "name", body: "x".repeat(21) }])))
          )
          assert.isTrue(Exit.isFailure(exit))
          assert.deepStrictEqual(readdirSync(join(folder, readdirSync(folder)[0] ?? "none")), [])
        }).pipe(Effect.provide(FormFiles.layer({ folder })))
      )
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )

  it.effect("gets 503 when the disk refuses", () =>
    Effect.gen(function* () {
      const folder = join(root, "gone")
      const failed = yield* Effect.gen(function* () {
        rmSync(folder, { recursive: true })
        return yield* Effect.flip(Effect.scoped(reading(spec, packed([name, sample]))))
      }).pipe(Effect.provide(FormFiles.layer({ folder })))
      assert.deepInclude(failed, { status: 503, code: "service_unavailable", headers: { "retry-after": "5" } })
    })
  )
})

describe("folders of killed processes", () => {
  it.effect("are removed at the next start, and no others", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(root, "sweep-"))
      const dead = ["starling-forms-999999999-1700000000000-abcDEF", `starling-forms-${pid}-1700000000000-abcDEF`]
      const kept = ["starling-forms-1-1700000000000-abcDEF", "starling-forms-x", "other"]
      for (const entry of [...dead, ...kept]) mkdirSync(join(folder, entry, "call-1"), { recursive: true })
      writeFileSync(join(folder, "starling-forms-999999999-1700000000001-abcDEF"), "a file")
      const other = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* FormFiles
          const ours = readdirSync(folder).filter((entry) => !kept.includes(entry))
          // A second role of the same process comes up, and goes.
          yield* Effect.provide(FormFiles, FormFiles.layer({ folder }))
          assert.deepStrictEqual(
            readdirSync(folder).filter((entry) => !kept.includes(entry)),
            ours
          )
          return ours
        }).pipe(Effect.provide(FormFiles.layer({ folder })))
      )
      assert.strictEqual(other.length, 2)
      assert.deepStrictEqual(
        readdirSync(folder).toSorted(),
        [...kept, "starling-forms-999999999-1700000000001-abcDEF"].toSorted()
      )
    })
  )
})
