/**
 * Builds the console's page into a folder: `index.html`, and `assets` whose names change with their content, each also
 * packed. `node dev/page/build.ts [folder]`; the default is `dist/page`.
 */
import { hash } from "node:crypto"
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { build, type Metafile, stop } from "esbuild"

const root = join(import.meta.dirname, "../..")
const words = "libs/console/words/*.ts"
const sources = ["page/**/*.{ts,tsx,css,svg,html}", words, "package-lock.json", "dev/page/build.ts"]

interface BuiltPage {
  /** What a browser loads before it shows anything, packed with gzip. */
  readonly firstLoadBytes: number
  readonly files: number
}

/** Replaces the folder's content. Throws when the page does not compile. */
export const buildPage = async (folder: string): Promise<BuiltPage> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, "assets"), { recursive: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: "page/main.tsx", icon: "page/icon.svg" },
    outdir: join(folder, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".svg": "copy" },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    legalComments: "linked",
    metafile: true,
    logLevel: "silent"
  })
  const first = firstLoadOf(metafile)
  const page = readFileSync(join(root, "page/index.html"), "utf8")
  writeFileSync(join(folder, "index.html"), indexOf(page, first, await arrivalScript()))
  for (const name of readdirSync(join(folder, "assets"))) pack(join(folder, "assets", name))
  pack(join(folder, "index.html"))
  const loaded = ["index.html", ...[...first.scripts, ...first.styles].map((name) => `assets/${name}`)]
  return {
    firstLoadBytes: loaded.reduce((sum, path) => sum + statSync(join(folder, `${path}.gz`)).size, 0),
    files: Object.keys(metafile.outputs).length + 1
  }
}

/** The one script that stands in the page itself. */
const arrivalScript = async (): Promise<string> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["page/arrival.ts"],
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    logLevel: "silent"
  })
  const text = outputFiles.map((file) => file.text.trim()).join("")
  if (text.includes("</")) throw new Error("the script in the page would end before its end")
  return text
}

/** Fleets that start at once build it once each at most, and none takes another's away. */
const keptMs = 3_600_000

/** The folder within this one that has the page as it is now; builds it after a change. */
export const buildPageOnce = async (within: string, now = new Date()): Promise<string> => {
  const stamps = globSync(sources, { cwd: root })
    .toSorted()
    .map((path) => `${path} ${statSync(join(root, path)).mtimeMs}`)
  const folder = join(within, hash("sha256", stamps.join("\n"), "hex").slice(0, 16))
  if (existsSync(join(folder, "index.html"))) return folder
  mkdirSync(within, { recursive: true })
  const fresh = `${folder}.${process.pid}`
  try {
    await buildPage(fresh)
  } finally {
    // The builder is a process of its own, and would outlive its work.
    await stop()
  }
  if (!existsSync(folder)) renameSync(fresh, folder)
  for (const name of readdirSync(within)) {
    const path = join(within, name)
    if (path !== folder && now.getTime() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true })
  }
  return folder
}

interface FirstLoad {
  /** The entry, and what it imports at once. */
  readonly scripts: ReadonlyArray<string>
  /** Of all screens: a screen that is loaded later could not load its own. */
  readonly styles: ReadonlyArray<string>
  readonly icon: string
}

const firstLoadOf = ({ outputs }: Metafile): FirstLoad => {
  const paths = Object.keys(outputs)
  const entry = paths.find((path) => outputs[path]?.entryPoint === "page/main.tsx")
  const icon = paths.find((path) => basename(path).startsWith("icon-"))
  if (entry === undefined || icon === undefined) throw new Error("the page has no entry, or no icon")
  const scripts = new Set<string>()
  const visit = (path: string) => {
    if (scripts.has(path)) return
    scripts.add(path)
    for (const each of outputs[path]?.imports ?? []) if (each.kind === "import-statement") visit(each.path)
  }
  visit(entry)
  const main = outputs[entry]?.cssBundle
  const styles = paths.filter((path) => path.endsWith(".css")).toSorted((left) => (left === main ? -1 : 1))
  return {
    scripts: [...scripts].map((path) => basename(path)),
    styles: styles.map((path) => basename(path)),
    icon: basename(icon)
  }
}

/** Everything that is loaded at once stands in the head, so that no file waits for another. */
const indexOf = (page: string, { scripts: [main = "", ...rest], styles, icon }: FirstLoad, arrival: string) =>
  page
    .replace('<script src="/assets/arrival.js"></script>', () => `<script>${arrival}</script>`)
    .replace("/assets/icon.svg", `/assets/${icon}`)
    .replace(
      '<link rel="stylesheet" href="/assets/main.css" />',
      [
        ...styles.map((name) => `<link rel="stylesheet" href="/assets/${name}" />`),
        ...rest.map((name) => `<link rel="modulepreload" href="/assets/${name}" />`)
      ].join("\n    ")
    )
    .replace("/assets/main.js", `/assets/${main}`)

const pack = (path: string) => {
  const bytes = readFileSync(path)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "dist/page"))
  const { firstLoadBytes, files } = await buildPage(folder)
  await stop()
  const kilobytes = (firstLoadBytes / 1_000).toFixed(1)
  process.stdout.write(`${files} files in ${relative(process.cwd(), folder)}; a first load is ${kilobytes} kB\n`)
}
