/** Which files load a file, and which tests use what it exports: by their imports, through files that pass names on. Pure. */
import { posix } from "node:path"
import { parseSync } from "oxc-parser"

/** The imports of package.json: each `#` name and the one file behind it. */
export type Entrances = Readonly<Record<string, string>>

export interface ImportGraph {
  /** The files that load it, over any number of steps. */
  readonly loadersOf: (file: string) => ReadonlySet<string>
  /** The files that use a name of it, each with the fewest steps that lie between. */
  readonly usersOf: (file: string) => ReadonlyMap<string, number>
}

interface Taken {
  readonly target: string
  /** Undefined for all names. */
  readonly name: string | undefined
}

interface Module {
  readonly takes: ReadonlyArray<Taken>
  /** Names that it passes on, and what they are called where they come from. */
  readonly passedOn: ReadonlyMap<string, Taken>
  readonly reexportedAll: ReadonlyArray<string>
  readonly own: ReadonlySet<string>
}

export const importGraph = (files: ReadonlyMap<string, string>, entrances: Entrances): ImportGraph => {
  const modules = new Map([...files].map(([path, text]) => [path, moduleOf(path, text, entrances)]))
  const [loaders, users] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()]
  for (const [path, module] of modules) {
    const passed = [...module.passedOn.values(), ...module.reexportedAll.map((target) => ({ target, name: undefined }))]
    for (const { target } of [...module.takes, ...passed]) add(loaders, target, path)
    for (const taken of module.takes) for (const origin of originsOf(modules, taken)) add(users, origin, path)
  }
  return {
    loadersOf: (file) => new Set([...stepsFrom(loaders, file).keys()].filter((each) => each !== file)),
    usersOf: (file) => stepsFrom(users, file)
  }
}

const add = (edges: Map<string, Set<string>>, to: string, from: string) => {
  edges.set(to, (edges.get(to) ?? new Set()).add(from))
}

const stepsFrom = (edges: ReadonlyMap<string, ReadonlySet<string>>, start: string): ReadonlyMap<string, number> => {
  const steps = new Map([[start, 0]])
  for (const [file, step] of steps) {
    for (const next of edges.get(file) ?? []) if (!steps.has(next)) steps.set(next, step + 1)
  }
  return steps
}

/** The files in which a name is declared: itself, unless it passes the name on. */
const originsOf = (modules: ReadonlyMap<string, Module>, { target, name }: Taken): ReadonlyArray<string> => {
  const module = modules.get(target)
  if (module === undefined) return []
  if (name === undefined)
    return [target, ...[...module.passedOn.values()].flatMap((taken) => originsOf(modules, taken))].concat(
      module.reexportedAll.flatMap((each) => originsOf(modules, { target: each, name: undefined }))
    )
  const passed = module.passedOn.get(name)
  if (passed !== undefined) return originsOf(modules, passed)
  if (module.own.has(name)) return [target]
  const among = module.reexportedAll.filter((each) => hasName(modules, each, name))
  return among.length === 0 ? [target] : among.flatMap((each) => originsOf(modules, { target: each, name }))
}

const hasName = (modules: ReadonlyMap<string, Module>, file: string, name: string): boolean => {
  const module = modules.get(file)
  if (module === undefined) return false
  if (module.own.has(name) || module.passedOn.has(name)) return true
  return module.reexportedAll.some((each) => hasName(modules, each, name))
}

const quoted = /^(["'`])([^"'`$]*)\1$/u

const moduleOf = (path: string, text: string, entrances: Entrances): Module => {
  const { module } = parseSync(path, text)
  const [takes, passedOn, reexportedAll, own] = [
    new Array<Taken>(),
    new Map<string, Taken>(),
    new Array<string>(),
    new Set<string>()
  ]
  const find = (specifier: string) => targetOf(path, specifier, entrances)
  for (const { moduleRequest, entries } of module.staticImports) {
    const target = find(moduleRequest.value)
    if (target === undefined) continue
    if (entries.length === 0) takes.push({ target, name: undefined })
    for (const { importName, isType } of entries)
      if (!isType) takes.push({ target, name: importName.name ?? undefined })
  }
  for (const { moduleRequest, importName, exportName, isType } of module.staticExports.flatMap(
    ({ entries }) => entries
  )) {
    if (isType) continue
    const target = moduleRequest ? find(moduleRequest.value) : undefined
    const name = exportName.name ?? undefined
    if (target === undefined) own.add(name ?? "default")
    else if (name === undefined) reexportedAll.push(target)
    else passedOn.set(name, { target, name: importName.name ?? undefined })
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const [, , specifier = ""] = quoted.exec(text.slice(moduleRequest.start, moduleRequest.end)) ?? []
    const target = find(specifier)
    if (target !== undefined) takes.push({ target, name: undefined })
  }
  return { takes, passedOn, reexportedAll, own }
}

/** Our own file behind an import; undefined for packages. */
const targetOf = (file: string, specifier: string, entrances: Entrances) => {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(file), specifier)
  const found = entrances[specifier] ?? wildcard(specifier, entrances)
  return found === undefined ? undefined : posix.normalize(found)
}

const wildcard = (specifier: string, entrances: Entrances) => {
  for (const [name, target] of Object.entries(entrances)) {
    const [start = "", end] = name.split("*")
    if (end === undefined || !specifier.startsWith(start) || !specifier.endsWith(end)) continue
    return target.replace("*", specifier.slice(start.length, specifier.length - end.length))
  }
  return undefined
}
