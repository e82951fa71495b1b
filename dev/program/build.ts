/**
 * Bundles our programs as plain JavaScript: the entries, chunks that are loaded when they are needed, and a file for each
 * thread or program that is started by its URL. A process starts in some two thirds of the processor time that its
 * sources need, and in two thirds of their memory: Node looks up, reads and keeps a hundred files in place of a thousand.
 *
 * `node dev/program/build.ts` bundles the command line into a folder of `.starling/cache/program`, and writes the path of
 * its entry into `current` there: it is what the launcher runs. Images have a bundle of their own, made by the same code.
 */
import { hash } from "node:crypto"
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { build, type Metafile, type Plugin, stop } from "esbuild"

const root = join(import.meta.dirname, "../..")

export interface Bundling {
  readonly folder: string
  /** The path of each program, and its name in the folder. */
  readonly programs: Readonly<Record<string, string>>
  /** The folders in which threads and programs are looked for that are started by their URL. */
  readonly from: ReadonlyArray<string>
  /** Packages that are loaded as they are installed. */
  readonly external: ReadonlyArray<string>
  readonly plugins: ReadonlyArray<Plugin>
  readonly legalComments: "linked" | "none"
}

/** Packages with parts that no bundle can hold: what calls the host's libraries, and the engines'. */
export const nativePackages = { app: ["koffi"], speech: ["sherpa-onnx-node"] } as const

/** All of them, for a bundle that loads them as they are installed. */
export const nativeNames = Object.values(nativePackages).flat()

// `new URL("./thread.ts", import.meta.url)`: the form in which a thread or a separate program is named.
const byUrl = /new URL\("(\.{0,2}\/?[\w./-]+\.ts)", import\.meta\.url\)/gu

export const bundle = async (bundling: Bundling): Promise<Metafile> => {
  const entries = [...new Set([...Object.keys(bundling.programs), ...startedByUrl(bundling.from)])]
  const outputName = nameIn(bundling.programs)
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((path) => [outputName(path), path])),
    outdir: bundling.folder,
    bundle: true,
    splitting: true,
    // Names stay as they are: with short ones, kept by a call for each function that is made, a paid call costs 8 % more.
    minifyWhitespace: true,
    minifySyntax: true,
    format: "esm",
    platform: "node",
    target: "node24",
    chunkNames: "chunk-[hash]",
    legalComments: bundling.legalComments,
    metafile: true,
    // Optional parts of packages that are not installed here.
    external: [...bundling.external, "redis", "ioredis", "bufferutil", "utf-8-validate"],
    banner: {
      js: 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);'
    },
    plugins: [...bundling.plugins, withoutPageScripts, httpOnly, undiciAlone, viemAlone, places(outputName)],
    logLevel: "warning"
  })
  return metafile
}

const nameIn = (programs: Readonly<Record<string, string>>) => (path: string) =>
  programs[path] ?? path.replace(/\.ts$/u, "").replaceAll(/[^\w-]+/gu, "-")

const named = (file: string, target: string) => relative(root, resolve(dirname(file), target))

const startedByUrl = (folders: ReadonlyArray<string>) =>
  globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: root }
  ).flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(byUrl)].map((match) => named(join(root, path), match[1] ?? ""))
  )

/** Where a file names a thread, it means the bundled one; where it asks for its own folder, the one of its source. */
const places = (outputName: (path: string) => string): Plugin => ({
  name: "places",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes("/node_modules/") || !/\/(?:libs|services|dev)\//u.test(path)) return undefined
      const contents = readFileSync(path, "utf8")
        .replace(byUrl, (_, target: string) => `new URL("./${outputName(named(path, target))}.js", import.meta.url)`)
        .replaceAll("import.meta.dirname", () => JSON.stringify(dirname(path)))
      return { contents, loader: "ts" }
    })
})

// Scripts of 5 MB for reference pages: our pages use none.
const withoutPageScripts: Plugin = {
  name: "without page scripts",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/effect\/dist\/http-api\/internal\/httpApi(?:Scalar|Swagger)\.js$/ }, () => ({
      contents: 'export const javascript = "", css = ""',
      loader: "js"
    }))
}

/**
 * `import` of `node:http` reads all that it exports, and some of that loads the whole client behind `fetch`: 40 ms of a
 * processor at the start of each process, of which most never use that.
 */
const httpOnly: Plugin = {
  name: "http alone",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^(?:node:)?http$/ }, () => ({ path: "http", namespace: "built in" }))
    onLoad({ filter: /^http$/, namespace: "built in" }, () => ({
      contents: 'module.exports = process.getBuiltinModule("node:http")',
      loader: "js"
    }))
  }
}

/** Of undici what we import: `fetch`, sockets, caches and mocks took 15 ms of each start. */
export const undiciParts = { Pool: "./lib/dispatcher/pool", buildConnector: "./lib/core/connect" } as const

const undiciAlone: Plugin = {
  name: "undici alone",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/undici\/index\.js$/ }, () => ({
      contents: [
        'Object.assign(require("./lib/dispatcher/dispatcher").prototype, require("./lib/api"))',
        ...Object.entries(undiciParts).map(([name, path]) => `exports.${name} = require("${path}")`)
      ].join("\n"),
      loader: "js"
    }))
}

/**
 * What viem loads when it calls a chain or recovers a signer, which nobody here does by it. Each such file would be a
 * chunk, and bring the client along that loads it: of the 44 ms of a processor and 1.2 MB that viem took, 9 and 0.3 are left.
 */
const viemAlone: Plugin = {
  name: "viem alone",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/ccip\.js$|^@noble\/curves\/secp256k1$|^isows$/ }, ({ kind, path, importer }) =>
      kind === "dynamic-import" && importer.includes("/viem/") ? { path, external: true } : undefined
    )
}

const sources = ["libs", "services", "dev", "deploy"].map((folder) => `${folder}/**/*.{ts,json}`)
const packages = ["package.json", "package-lock.json"]

/** A fleet that was started before a change restarts its processes from its own bundle, for a week. */
const keptMs = 7 * 86_400_000

/** The command line as it is now, in a folder within this one; bundles it after a change. Returns its entry. */
export const buildProgramOnce = async (within: string, now = new Date()): Promise<string> => {
  const stamps = globSync([...sources, ...packages], { cwd: root })
    .toSorted()
    .map((path) => `${path} ${statSync(join(root, path)).mtimeMs}`)
  const folder = join(within, hash("sha256", stamps.join("\n"), "hex").slice(0, 16))
  const entry = join(folder, "main.js")
  if (!existsSync(entry)) {
    const fresh = `${folder}.${process.pid}`
    await bundle({
      folder: fresh,
      programs: { "services/cli/main.ts": "main" },
      from: ["libs", "services", "dev/chain"],
      external: [...nativeNames, "esbuild", "litesvm", "solc"],
      plugins: [],
      legalComments: "none"
    }).finally(stop)
    if (existsSync(folder)) rmSync(fresh, { recursive: true })
    else renameSync(fresh, folder)
  }
  writeCurrent(within, entry, now)
  for (const name of readdirSync(within)) {
    const path = join(within, name)
    if (path !== folder && now.getTime() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true })
  }
  return entry
}

/** The launcher compares the sources with this file's time: that of the reading, for a source may change meanwhile. */
const writeCurrent = (within: string, entry: string, readAt: Date) => {
  const fresh = join(within, `current.${process.pid}`)
  writeFileSync(fresh, `${entry}\n`)
  utimesSync(fresh, readAt, readAt)
  renameSync(fresh, join(within, "current"))
}

if (import.meta.main) await buildProgramOnce(join(root, ".starling/cache/program"))
