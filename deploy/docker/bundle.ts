/**
 * Bundles the roles as plain JavaScript: `app/main.js` and `app/backup.js`, chunks that a role loads when it runs, and
 * a file for each thread that is started by its URL; and the console's page into `app/page`. Native and WebAssembly
 * packages, and those that load them, stay outside and are copied: what calls the host's libraries into `app`, those of
 * the engines into `speech`, which only their image includes, with the voices that could be had.
 * `node deploy/docker/bundle.ts [folder]`; the default is `dist`.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import type { Plugin } from "esbuild"
import { buildPage } from "#dev/page"
import { bundle as bundlePrograms, nativeNames, nativePackages } from "#dev/program"

const root = join(import.meta.dirname, "../..")
/** The programs of the image. */
const programs: Readonly<Record<string, string>> = {
  "services/cli/main.ts": "main",
  "deploy/backup/main.ts": "backup"
}

// No container runs `up`, with its chains and models to try the fleet on.
const withoutUp: Plugin = {
  name: "without up",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/services\/fleet\/up\.ts$/ }, () => ({
      contents: `export const up = () => {
        process.stderr.write("starling: a container runs roles: role <name>...\\n")
        process.exit(2)
      }`,
      loader: "js"
    }))
}

export const bundle = async (folder: string) => {
  rmSync(folder, { recursive: true, force: true })
  const { outputs } = await bundlePrograms({
    folder: join(folder, "app"),
    programs,
    from: ["libs", "services"],
    external: nativeNames,
    plugins: [withoutUp],
    legalComments: "linked"
  })
  for (const [part, names] of Object.entries(nativePackages))
    for (const name of names) copyPackage(name, join(folder, part))
  writeFileSync(
    join(folder, "app/package.json"),
    `${JSON.stringify({ name: "starling", private: true, type: "module" })}\n`
  )
  writeFileSync(join(folder, "app/starling"), launcher, { mode: 0o755 })
  copyVoices(join(folder, "speech/voices"))
  const page = await buildPage(join(folder, "app/page"))
  return Object.keys(outputs).length + page.files
}

/** The folder is there in any case, so that an image can say where voices are. */
const copyVoices = (to: string) => {
  const from = process.env["STARLING_VOICES"] ?? join(root, ".starling/tools/voices")
  mkdirSync(to, { recursive: true })
  if (existsSync(from)) cpSync(from, to, { recursive: true })
}

/** Runs any command in a container: `kubectl exec ... -- starling token list`. */
const launcher = `#!/bin/sh
exec node "$(dirname "$0")/main.js" "$@"
`

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * Copies a package and its dependencies as installed, for the platform of this machine. Absent optional ones are left
 * out.
 */
const copyPackage = (name: string, folder: string, copied = new Set<string>()) => {
  const from = join(root, "node_modules", name)
  if (copied.has(name) || !existsSync(from)) return
  copied.add(name)
  const to = join(folder, "node_modules", name)
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, filter: (path) => isNeeded(relative(from, path)) })
  const manifest: Manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8"))
  for (const needed of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    copyPackage(needed, folder, copied)
  }
}

// Sources of native parts, and packages' tests and documents, are not needed at run time.
const isNeeded = (path: string) =>
  !/^(?:test|doc|docs|vendor)(?:\/|$)|\.(?:md|map|d\.ts|c|h|cc|cpp|hh|S|asm|inc|o|a|gyp)$/u.test(path)

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "dist"))
  const files = await bundle(folder)
  process.stdout.write(`${files} files in ${folder}\n`)
}
