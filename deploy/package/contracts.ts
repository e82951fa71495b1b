/**
 * Makes the package for developers beside the fleet: the contracts as JavaScript with their types, an example and a JSON
 * Schema of each event, and `verify`, which needs no Effect. `node deploy/package/contracts.ts [folder]`; the default is
 * `dist/contracts`. Pack the folder with `npm pack`.
 */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { eventCatalogue, exampleEnvelope } from "#contracts"
import manifest from "../../package.json" with { type: "json" }

const root = join(import.meta.dirname, "../..")
const source = join(root, "libs/contracts")

/** The entrances of the room, under the package's own name: `#contracts/http` is `starling-contracts/http`. */
const entrances = () => {
  const files = Object.entries(manifest.imports).flatMap(([name, path]) =>
    /^#contracts(?:\/|$)/u.test(name) ? [[`.${name.slice("#contracts".length)}`, path] as const] : []
  )
  const compiled = ([name, path]: readonly [string, string]) => {
    const file = path.replace("./libs/contracts/", "./lib/").replace(/\.ts$/u, "")
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }] as const
  }
  return Object.fromEntries(files.map(compiled))
}

const packageManifest = () => ({
  name: "starling-contracts",
  version: manifest.version,
  description: "The contracts of Starling: events, HTTP APIs, and the verification of webhooks.",
  license: manifest.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  files: ["lib", "examples", "schemas"],
  exports: { ...entrances(), "./examples/*": "./examples/*", "./schemas/*": "./schemas/*" },
  peerDependencies: { effect: `^${manifest.dependencies.effect}` },
  // Who only verifies, or reads the examples, needs none.
  peerDependenciesMeta: { effect: { optional: true } }
})

const compile = (outDir: string) => {
  const folder = mkdtempSync(join(tmpdir(), "starling-contracts-"))
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(root, "node_modules/@types")],
      rootDir: source,
      outDir
    },
    include: [source]
  }
  try {
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "inherit" })
  } finally {
    rmSync(folder, { recursive: true })
  }
  // The compiler leaves declarations as they were written, and older compilers follow no `.ts` from there.
  for (const file of globSync("**/*.d.ts", { cwd: outDir })) {
    const text = readFileSync(join(outDir, file), "utf8")
    writeFileSync(join(outDir, file), text.replaceAll(/((?:from|import\()\s*"\.{1,2}\/[^"]+)\.ts"/gu, '$1.js"'))
  }
}

/** Returns how many files the package has. */
export const makePackage = (folder: string): number => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, "examples"), { recursive: true })
  compile(join(folder, "lib"))
  for (const { name } of eventCatalogue) {
    writeFileSync(join(folder, "examples", `${name}.json`), `${JSON.stringify(exampleEnvelope(name), null, 2)}\n`)
  }
  cpSync(join(root, "docs/events"), join(folder, "schemas"), { recursive: true })
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(packageManifest(), null, 2)}\n`)
  cpSync(join(import.meta.dirname, "contracts.md"), join(folder, "README.md"))
  return globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile()).length
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "dist/contracts"))
  process.stdout.write(`${makePackage(folder)} files in ${folder}\n`)
}
