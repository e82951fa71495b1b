/**
 * All imports of a file, in every form: `import`, `export from`, types, `import()` and threads that are started by
 * their URL. Our linter's parser reads them, so that text and comments are not taken for imports.
 */
import { parseSync } from "oxc-parser"

export interface Import {
  /** Empty when it is known only at run time. */
  readonly specifier: string
  readonly line: number
  /** Nothing of it is there when the program runs. */
  readonly isTypeAlone: boolean
}

const byUrl = /new URL\(\s*"(\.[^"]+\.ts)",\s*import\.meta\.url\s*\)/gu
const quoted = /^(["'`])([^"'`$]*)\1$/u

export class Unreadable extends Error {}

/** Each import once, and once more where types alone are taken too. Throws Unreadable when the parser finds no program. */
export const importsOf = (path: string, text: string): ReadonlyArray<Import> => {
  const { module, errors } = parseSync(path, text)
  const [error] = errors
  if (error !== undefined) throw new Unreadable(`${path}: ${error.message}`)
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length
  const found: Array<Import> = []
  const add = (specifier: string, offset: number, isTypeAlone = false) =>
    found.push({ specifier, line: lineAt(offset), isTypeAlone })
  for (const { moduleRequest, entries } of module.staticImports) {
    const isTypeAlone = entries.length > 0 && entries.every(({ isType }) => isType)
    add(moduleRequest.value, moduleRequest.start, isTypeAlone)
  }
  for (const { moduleRequest, isType } of module.staticExports.flatMap(({ entries }) => entries)) {
    if (moduleRequest !== null && moduleRequest !== undefined) add(moduleRequest.value, moduleRequest.start, isType)
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const [, , specifier] = quoted.exec(text.slice(moduleRequest.start, moduleRequest.end)) ?? []
    add(specifier ?? "", moduleRequest.start)
  }
  if (module.importMetas.length > 0) for (const match of text.matchAll(byUrl)) add(match[1] ?? "", match.index)
  const seen = new Set<string>()
  const isNew = ({ specifier, isTypeAlone }: Import) => {
    const key = `${isTypeAlone} ${specifier}`
    return !seen.has(key) && seen.add(key)
  }
  return found.filter(isNew)
}
