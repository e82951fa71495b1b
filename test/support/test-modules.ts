/**
 * Loads each test file by its plain URL. Vitest adds the time to it, so that a run of one worker may load it again when
 * it is watched; but Node keeps compiled code by URL, so that it would compile every test file anew in each run.
 */
import { registerHooks } from "node:module"

const added = /\?vitest=\d+$/u

if (process.env["VITEST_MODE"] !== "WATCH") {
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context)
      return { ...resolved, url: resolved.url.replace(added, "") }
    }
  })
}
