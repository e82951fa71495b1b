/** The fence: checks every import of a tree against the table of rooms. */
import { readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { type Edge, folderCircles } from "./folder-circles.ts"
import { type Import, importsOf, Unreadable } from "./imports.ts"
import { type Room, roomOf, rooms } from "./rooms.ts"

/** The imports of package.json: each `#` name and the one file behind it. */
export type Entrances = Readonly<Record<string, string>>

/** The faults of a tree's files, a line each, in their order; circles of folders last. */
export const faultsOf = (root: string, files: ReadonlyArray<string>, entrances: Entrances): ReadonlyArray<string> => {
  const edges: Array<Edge> = []
  const faults = files.flatMap((file) => {
    const room = roomOf(file)
    if (room === undefined) return [`${file}: it lies in no room; rooms are listed in dev/fence/rooms.ts`]
    return readImports(root, file).flatMap((found) => {
      if (typeof found === "string") return [found]
      const target = targetOf(file, found.specifier, entrances)
      if (target !== undefined) edges.push([file, target])
      const fault = faultOf({ room, ...found, target })
      return fault === undefined ? [] : [`${file}:${found.line} imports "${found.specifier}": ${fault}`]
    })
  })
  return [...faults, ...folderCircles(edges).map((circle) => `a circle of folders: ${circle.join(" → ")}`)]
}

const readImports = (root: string, file: string): ReadonlyArray<Import | string> => {
  try {
    return importsOf(file, readFileSync(join(root, file), "utf8"))
  } catch (error) {
    if (error instanceof Unreadable) return [error.message]
    throw error
  }
}

/** The project's own metadata, which every room may read. */
const manifest = "package.json"

/** Our own file behind an import. Undefined for packages and for names that do not exist. */
const targetOf = (file: string, specifier: string, entrances: Entrances) => {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier)
  for (const [name, target] of Object.entries(entrances)) {
    const [start = "", end] = name.split("*")
    const isMeant = end === undefined ? specifier === name : specifier.startsWith(start) && specifier.endsWith(end)
    if (isMeant)
      return target
        .replace(/^\.\//u, "")
        .replace("*", specifier.slice(start.length, specifier.length - (end?.length ?? 0)))
  }
  return undefined
}

interface Question extends Import {
  readonly room: string
  readonly target: string | undefined
}

const faultOf = ({ room, specifier, target, isTypeAlone }: Question): string | undefined => {
  if (specifier === "") return "its name is made when it runs, so nobody can check it"
  const here = rooms[room] as Room
  if (target === manifest) return undefined
  const isForeign = target === undefined ? packageOf(specifier).startsWith("effect") : !isInBrowser(roomOf(target))
  if (here.isInBrowser && isForeign && !isTypeAlone) return `${room} runs in browsers: it takes types alone from there`
  if (target !== undefined) return faultOfOurs(room, here, specifier, roomOf(target))
  if (specifier.startsWith("#")) return "package.json gives this name to nothing"
  return here.looksInside || mayUse(here, specifier) ? undefined : `${room} may not use ${packageOf(specifier)}`
}

const isInBrowser = (room: string | undefined) => room !== undefined && rooms[room]?.isInBrowser === true

const faultOfOurs = (room: string, here: Room, specifier: string, there: string | undefined) => {
  const byName = specifier.startsWith("#")
  if (there === undefined) return "it lies in no room"
  if (there === room) return byName ? "a room does not enter itself: import the file" : undefined
  if (here.looksInside) return undefined
  if (!here.knows.includes(there)) return `${room} may not know ${there}`
  return byName ? undefined : `${there} is entered by its # names in package.json`
}

/**
 * `@scope/name`, `name`, `effect/part`, or a module of Node. An `effect/Name` that `effect` itself exports counts as
 * `effect`.
 */
const packageOf = (specifier: string) => {
  if (specifier.startsWith("node:")) return specifier
  if (/^effect\/[A-Z]\w*$/u.test(specifier)) return "effect"
  const deep = specifier.startsWith("@") || specifier.startsWith("effect/")
  return specifier.split("/", deep ? 2 : 1).join("/")
}

/** `node:module` can load anything past the fence, so a room must list it. */
const mayUse = ({ packages = [], isPure }: Room, specifier: string) => {
  const name = packageOf(specifier)
  if (name === "effect" || packages.includes(name)) return true
  if (name.startsWith("node:")) return isPure !== true && name !== "node:module"
  return packages.includes(name.replace(/\/.*$/su, "/*"))
}
