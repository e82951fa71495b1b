/**
 * Makes the package for developers beside the fleet: the contracts as JavaScript with their types, an example and a JSON
 * Schema of each event, and `verify`, which needs no Effect. `node deploy/package/contracts.ts [folder]`; the default is
 * `dist/contracts`. Pack the folder with `npm pack`.
 */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { eventCatalogue, exampleEnvelope } from "#base"
import manifest from "../../package.json" with { type: "json" }

const root = join(import.meta.dirname, "../..")
const libs = join(root, "libs")

const rooms = [
  "base",
  ...["pipeline", "webhooks", "payments", "gateway", "speech", "console"].map((home) => `${home}/contract`)
]

/** The package's own names of what other folders than these enter by `#` names. The first is all rooms together. */
const entrances: Readonly<Record<string, string>> = {
  ".": "index",
  "./http": "base/http/index",
  "./printable": "base/printable",
  "./verify": "webhooks/contract/signature",
  "./pipeline-api": "pipeline/contract/api/PipelineHttpApi",
  "./model-gateway": "gateway/contract/api/GatewayHttpApi",
  "./speech-api": "speech/contract/api/SpeechHttpApi",
  "./console": "console/contract/api/ConsoleHttpApi"
}

const compiled = (file: string) => ({ types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` })

const packageManifest = () => ({
  name: "starling-contracts",
  version: manifest.version,
  description: "The contracts of Starling: events, HTTP APIs, and the verification of webhooks.",
  license: manifest.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  files: ["lib", "examples", "schemas"],
  exports: {
    ...Object.fromEntries(Object.entries(entrances).map(([name, file]) => [name, compiled(file)])),
    "./examples/*": "./examples/*",
    "./schemas/*": "./schemas/*"
  },
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
      // How the APIs are declared is of no use outside, and its types cannot be written down.
      stripInternal: true,
      rewriteRelativeImportExtensions: true,
      typeRoots: [join(root, "node_modules/@types")],
      rootDir: libs,
      outDir
    },
    include: rooms.map((room) => join(libs, room))
  }
  try {
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config))
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "inherit" })
  } finally {
    rmSync(folder, { recursive: true })
  }
  const together = rooms.map((room) => `export * from "./${room}/index.js"\n`).join("")
  for (const end of ["js", "d.ts"]) writeFileSync(join(outDir, `index.${end}`), together)
  for (const file of globSync("**/*.{js,d.ts}", { cwd: outDir })) {
    const path = join(outDir, file)
    writeFileSync(path, withRelativeImports(readFileSync(path, "utf8"), dirname(file)))
  }
}

const specifier = /((?:from|import|import\()\s*")((?:\.{1,2}\/|#)[^"]+)(?=")/gu

/** Rooms go by `#` names in this tree alone; and declarations keep `.ts`, which older compilers do not follow. */
const withRelativeImports = (text: string, folder: string) =>
  text.replaceAll(specifier, (_, before: string, name: string) => {
    const room = (manifest.imports as Readonly<Record<string, string>>)[name]
    const path = room === undefined ? name : relative(folder, room.replace("./libs/", ""))
    return `${before}${path.startsWith(".") ? path : `./${path}`}`.replace(/\.ts$/u, ".js")
  })

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
