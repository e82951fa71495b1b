/** Writes a file that only its owner can read, even over one that others can: whole, or not at all. */
import { randomUUID } from "node:crypto"
import { rename, rm, writeFile } from "node:fs/promises"
import { Effect } from "effect"

export const writePrivately = (path: string, text: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const draft = `${path}.${randomUUID()}`
    try {
      await writeFile(draft, text, { mode: 0o600, flag: "wx" })
      await rename(draft, path)
    } finally {
      await rm(draft, { force: true })
    }
  })
