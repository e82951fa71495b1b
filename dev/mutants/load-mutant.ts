/**
 * Has a process of tests load the mutant of its run: the changed file, and all that load it, anew and under a name of the
 * run's own. All other modules stay as they were loaded. The tree is not written to.
 */
import { readFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"
import { chai, inject } from "vitest"
import type { LoadedMutant } from "./test-run.ts"

// As in test/support/test-modules.ts, whose place this takes.
chai.config.useProxy = false

const added = /\?(?:vitest|run)=\d+$/u
const ofRun = /\?run=\d+$/u
const texts = new Map<string, string>()
let latest: { readonly run: number; readonly anew: ReadonlySet<string> } = { run: 0, anew: new Set() }

const running = () => {
  const { run, anew }: LoadedMutant = inject("mutant")
  if (run !== latest.run) latest = { run, anew: new Set(anew) }
  return latest
}

registerHooks({
  resolve: (specifier, context, next) => {
    const isOurs = /^\.\.?\/.*\.ts$/u.test(specifier) && context.conditions.includes("import")
    const found = isOurs
      ? { url: new URL(specifier, context.parentURL).href, format: "module-typescript" }
      : next(specifier, context)
    const url = found.url.replace(added, "")
    const { run, anew } = running()
    return { ...found, url: anew.has(url) ? `${url}?run=${run}` : url, shortCircuit: true }
  },
  load: (url, context, next) => {
    if (!ofRun.test(url)) return next(url, context)
    const plain = url.replace(ofRun, "")
    const { file, text } = inject("mutant")
    return {
      format: "module",
      source: plain === file ? stripTypeScriptTypes(text) : stripped(plain),
      shortCircuit: true
    }
  }
})

/** Types are taken out once for all runs. */
const stripped = (url: string) => {
  const known = texts.get(url)
  if (known !== undefined) return known
  const text = stripTypeScriptTypes(readFileSync(fileURLToPath(url), "utf8"))
  texts.set(url, text)
  return text
}
