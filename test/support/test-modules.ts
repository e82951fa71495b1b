/**
 * Readies a thread for tests: finds their modules, each by its plain URL.
 *
 * Node looks for every import on the disk, and vitest tells its main thread of each: a tenth of a check, for names that
 * already say which file they mean. Vitest also adds the time to a test file's URL, so that a run of one worker may load
 * it again when it is watched; but Node keeps compiled code by URL, so that it would compile every test file in each run.
 */
import { registerHooks, type ResolveFnOutput } from "node:module"
import { chai } from "vitest"

const added = /\?vitest=\d+$/u
const root = new URL("../../", import.meta.url).href
const packages = new URL("node_modules/", root).href

// The compiler finds a misspelt assertion, for which chai puts a proxy around each.
chai.config.useProxy = false

/** What `#` names and packages mean to each of our files. */
const named = new Map<string, ResolveFnOutput>()

if (process.env["VITEST_MODE"] !== "WATCH") {
  registerHooks({
    resolve: (specifier, { conditions, parentURL = "", ...context }, next) => {
      const isImport = conditions.includes("import")
      if (isImport && /^\.\.?\//u.test(specifier)) {
        const format = specifier.endsWith(".ts") ? "module-typescript" : undefined
        return { url: new URL(specifier, parentURL).href, format, shortCircuit: true }
      }
      const isOurs = isImport && parentURL.startsWith(root) && !parentURL.startsWith(packages)
      const known = isOurs ? named.get(specifier) : undefined
      if (known !== undefined) return known
      const found = next(specifier, { conditions, parentURL, ...context })
      const resolved = { ...found, url: found.url.replace(added, ""), shortCircuit: true }
      if (isOurs) named.set(specifier, resolved)
      return resolved
    }
  })
}
