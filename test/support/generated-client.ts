/**
 * Clients that openapi-typescript makes from an OpenAPI document, as a caller without our packages would: the types are
 * generated and a program is checked against them in strict mode.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"

const run = promisify(execFile)
const root = resolve(import.meta.dirname, "../..")
const timeoutMs = 120_000

// openapi-typescript builds its output with the compiler's API, which version 7 of TypeScript does not have.
const withOlderCompiler = `
import { registerHooks } from "node:module"
registerHooks({ resolve: (name, context, next) => next(name === "typescript" ? "typescript-5" : name, context) })
`

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: "es2023",
  module: "nodenext",
  allowImportingTsExtensions: true,
  types: ["node"]
}

const said = (error: unknown) => {
  const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string }
  throw new Error(`${stdout}${stderr}`)
}

/**
 * A folder with `api.ts`, the types of the document, and with `program` as `program.ts`, both checked. Fails with what the
 * compiler says.
 */
export const compiledClient = (documentPath: string, program: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(tmpdir(), "starling-client-"))
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }))
      writeFileSync(join(folder, "older-compiler.js"), withOlderCompiler)
      writeFileSync(join(folder, "program.ts"), program)
      const generator = ["node_modules/openapi-typescript/bin/cli.js", join(root, documentPath), "-o", "api.ts"]
      const node = (words: ReadonlyArray<string>) =>
        run(process.execPath, [...words], { cwd: folder, timeout: timeoutMs }).catch(said)
      await node(["--import", "./older-compiler.js", ...generator])
      await node(["node_modules/typescript/bin/tsc", "--project", "."])
      return { folder, node }
    }),
    ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )

/** What the checked program writes when it is run with `words`. */
export const runClient = (
  { node }: Effect.Success<ReturnType<typeof compiledClient>>,
  ...words: ReadonlyArray<string>
) => Effect.promise(async () => (await node(["program.ts", ...words])).stdout)
