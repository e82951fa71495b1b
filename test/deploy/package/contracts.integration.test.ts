import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import ts from "typescript-5"
import { eventCatalogue } from "#base"
import { standardWebhooksHeaders, standardWebhooksKey } from "#webhooks"
import { makePackage } from "../../../deploy/package/contracts.ts"
import { repository } from "../tools.ts"

let folder: string
let consumer: string

const inConsumer = (program: string, ...parameters: ReadonlyArray<string>) =>
  execFileSync(program, parameters, { cwd: consumer, encoding: "utf8", stdio: "pipe" })

const failureOf = (work: () => unknown) => {
  try {
    work()
    return ""
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    return `${stdout}\n${stderr}`
  }
}

/** Packed as it would be published, and installed into an empty folder without a network. */
const install = () => {
  folder = mkdtempSync(join(tmpdir(), "starling-package-"))
  consumer = join(folder, "consumer")
  const made = join(folder, "made")
  makePackage(made)
  const npm = "npm"
  execFileSync(npm, ["pack", made, "--pack-destination", folder, "--silent"], { cwd: folder, stdio: "pipe" })
  const [archive = ""] = globSync("*.tgz", { cwd: folder })
  mkdirSync(consumer)
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  const quiet = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
  inConsumer(npm, "install", join(folder, archive), ...quiet)
}

const linkEffect = () =>
  symlinkSync(join(repository, "node_modules/effect"), join(consumer, "node_modules/effect"), "dir")

const body = '{"event":"work_item.merged"}'
const headers = standardWebhooksHeaders([standardWebhooksKey("a-key-of-16-bytes")], {
  deliveryId: "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01",
  attemptAtMs: 1_790_000_000_000,
  body: Buffer.from(body)
})

const verifying = `
import { verify } from "starling-contracts/verify"
const headers: Record<string, string> = ${JSON.stringify(headers)}
const tried: ReadonlyArray<boolean> = [
  await verify("a-key-of-16-bytes", headers, ${JSON.stringify(body)}, 1_790_000_000),
  await verify("a-key-of-16-bytes", new Headers(headers), new TextEncoder().encode(${JSON.stringify(body)}), 1_790_000_000),
  await verify("another-key-of-its-own", headers, ${JSON.stringify(body)}, 1_790_000_000),
  await verify("a-key-of-16-bytes", headers, ${JSON.stringify(body)})
]
console.log(JSON.stringify(tried))
`

const reading = `
import { Result } from "effect"
import { decodeEnvelope, type Envelope, eventCatalogue, exampleEnvelope } from "starling-contracts"
import { PipelineHttpApi } from "starling-contracts/pipeline-api"
import merged from "starling-contracts/examples/work_item.merged.json" with { type: "json" }
import schema from "starling-contracts/schemas/work_item.merged.schema.json" with { type: "json" }

const decoded = decodeEnvelope(merged)
if (Result.isFailure(decoded)) throw new Error(JSON.stringify(decoded.failure))
const envelope: Envelope = decoded.success.envelope
// @ts-expect-error: it is a text, so the types are those of the contracts.
const wrong: number = envelope.event
void wrong
const broken = decodeEnvelope({ ...merged, occurredAt: "yesterday" })
const faults = Result.isFailure(broken) ? [...new Set(broken.failure.map(({ path }) => path))] : []
const readable = eventCatalogue.filter(({ name }) => Result.isSuccess(decodeEnvelope(exampleEnvelope(name))))
console.log(JSON.stringify({ event: envelope.event, faults, readable: readable.length, title: typeof schema, api: typeof PipelineHttpApi }))
`

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: "ES2024",
  module: "nodenext",
  moduleResolution: "nodenext",
  resolveJsonModule: true,
  exactOptionalPropertyTypes: true
}

/** By the plain compiler; what it says is empty for sound code. */
const typesOf = (file: string, options: Readonly<Record<string, unknown>> = {}) => {
  const config = { compilerOptions: { ...compilerOptions, ...options }, files: [file] }
  writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(config))
  return failureOf(() => inConsumer(process.execPath, join(repository, "node_modules/typescript/bin/tsc"), "-p", "."))
}

/** All values and types that an import of the package brings, one a line: its place in the package, and its name. */
const exportedNames = () => {
  const installed = join(consumer, "node_modules/starling-contracts")
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>
  }
  const entries = Object.entries(manifest.exports).flatMap(([name, to]) =>
    typeof to === "string" ? [] : [{ name, file: join(installed, to.types) }]
  )
  const program = ts.createProgram({ rootNames: entries.map(({ file }) => file), options: { noLib: true, types: [] } })
  const checker = program.getTypeChecker()
  return entries.flatMap(({ name, file }) => {
    const source = program.getSourceFile(file)
    const entry = source && checker.getSymbolAtLocation(source)
    if (entry === undefined) throw new Error(`${file} exports nothing`)
    return checker
      .getExportsOfModule(entry)
      .map((symbol) => `${name} ${symbol.name}`)
      .toSorted()
  })
}

describe("the package of the contracts", () => {
  beforeAll(install)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("verifies a webhook without Effect, and its declarations stand alone", () => {
    writeFileSync(join(consumer, "verifying.ts"), verifying)
    assert.strictEqual(typesOf("verifying.ts", { types: [], lib: ["ES2024", "DOM"] }), "")
    assert.deepStrictEqual(JSON.parse(inConsumer(process.execPath, "verifying.ts")), [true, true, false, false])
    assert.include(
      failureOf(() => inConsumer(process.execPath, "--input-type=module", "-e", 'await import("starling-contracts")')),
      "Cannot find package 'effect'"
    )
  })

  it("has an example and a schema of every event", () => {
    const installed = join(consumer, "node_modules/starling-contracts")
    const names = eventCatalogue.map(({ name }) => name).toSorted()
    const found = (pattern: string, end: string) =>
      globSync(pattern, { cwd: installed })
        .map((path) => path.slice(path.indexOf("/") + 1, -end.length))
        .toSorted()
    assert.deepStrictEqual(found("examples/*.json", ".json"), names)
    assert.includeMembers(found("schemas/*.schema.json", ".schema.json"), names)
  })

  it("exports the names in exported-names.txt: none is renamed or missing, and what is new is added there", () => {
    const recorded = readFileSync(join(import.meta.dirname, "exported-names.txt"), "utf8")
      .trimEnd()
      .split("\n")
    const names = exportedNames()
    assert.deepStrictEqual(
      {
        missing: recorded.filter((one) => !names.includes(one)),
        added: names.filter((one) => !recorded.includes(one))
      },
      { missing: [], added: [] }
    )
  })

  it("reads events with its schemas, and its types hold in strict mode", () => {
    linkEffect()
    writeFileSync(join(consumer, "reading.ts"), reading)
    assert.strictEqual(
      typesOf("reading.ts", { types: [], lib: ["ES2024", "ESNext.Disposable", "DOM"], skipLibCheck: true }),
      ""
    )
    assert.deepStrictEqual(JSON.parse(inConsumer(process.execPath, "reading.ts")), {
      event: "work_item.merged",
      faults: ["/occurredAt"],
      readable: eventCatalogue.length,
      title: "object",
      api: "function"
    })
  })

  it("names in its own page only what it exports", () => {
    const installed = join(consumer, "node_modules/starling-contracts")
    const page = readFileSync(join(installed, "README.md"), "utf8")
    const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, unknown>>
    }
    for (const name of Object.keys(exports)) {
      const shown = name.replace(/^\./u, "").replace("/*", "/<event>")
      assert.isTrue(name === "." || page.includes(shown), `README.md does not name ${name}`)
    }
  })
})
