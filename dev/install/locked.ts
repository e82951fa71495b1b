/**
 * Holds packages to package-lock.json like `npm ci`, which asks for more: the lock file must then name the binaries of
 * every platform, even those whose packages were not available when it was written.
 *
 *   node dev/install/locked.ts before    package.json asks for what is locked, and every package has its checksum
 *   node dev/install/locked.ts after     what is installed is what is locked
 *
 * In the current folder. Prints every fault, and ends with 1 when there is one.
 */
import { readFileSync } from "node:fs"

export interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
}

/** The entry without a path is the project's own: its package.json when it was locked. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage & Manifest>>
}

export type Manifest = Readonly<Record<string, unknown>>

const sections = ["dependencies", "devDependencies", "optionalDependencies"]

/** Requests of package.json that the lock file does not have, and locked packages without a checksum. */
export const driftOf = (manifest: Manifest, lock: Lock): ReadonlyArray<string> => {
  const root = lock.packages[""] ?? {}
  const asked = sections.flatMap((section) => {
    const wanted = (manifest[section] ?? {}) as Readonly<Record<string, string>>
    const locked = (root[section] ?? {}) as Readonly<Record<string, string>>
    return [...new Set([...Object.keys(wanted), ...Object.keys(locked)])]
      .filter((name) => wanted[name] !== locked[name])
      .map(
        (name) => `${name}: package.json says ${wanted[name] ?? "nothing"}, the lock file ${locked[name] ?? "nothing"}`
      )
  })
  const unlocked = Object.keys((manifest["dependencies"] ?? {}) as object).filter(
    (name) => lock.packages[`node_modules/${name}`] === undefined
  )
  const unsummed = Object.entries(lock.packages).filter(
    ([path, { integrity }]) => path !== "" && integrity === undefined
  )
  return [
    ...asked,
    ...unlocked.map((name) => `${name}: is not locked`),
    ...unsummed.map(([path]) => `${path}: is locked without a sum`)
  ]
}

const isBinary = ({ os, cpu, optional, devOptional }: LockedPackage) =>
  (optional === true || devOptional === true) && (os !== undefined || cpu !== undefined)

/** Installed packages that differ from the lock file. */
export const strayOf = (lock: Lock, installed: Lock): ReadonlyArray<string> => {
  const others = Object.entries(installed.packages).flatMap(([path, found]) => {
    const locked = lock.packages[path]
    if (locked === undefined) return isBinary(found) ? [] : [`${path}: is installed and not locked`]
    if (locked.version !== found.version) return [`${path}: ${found.version} is installed, ${locked.version} is locked`]
    return locked.integrity === found.integrity ? [] : [`${path}: is not the one that is locked, by its sum`]
  })
  const missing = Object.entries(lock.packages)
    .filter(([path, locked]) => path !== "" && installed.packages[path] === undefined && !isLeftOut(locked))
    .map(([path]) => `${path}: is locked and not installed`)
  return [...others, ...missing]
}

const isLeftOut = ({ optional, devOptional }: LockedPackage) => optional === true || devOptional === true

const read = <A>(path: string) => JSON.parse(readFileSync(path, "utf8")) as A

if (import.meta.main) {
  const lock = read<Lock>("package-lock.json")
  const faults =
    process.argv[2] === "after"
      ? strayOf(lock, read<Lock>("node_modules/.package-lock.json"))
      : driftOf(read<Manifest>("package.json"), lock)
  for (const fault of faults) process.stderr.write(`starling: ${fault}\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
