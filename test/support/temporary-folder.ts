/** A folder of the test's own for temporary files: in the machine's, other processes come and go. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/** Until its scope ends, this process and the threads that it starts keep such files there. */
export const ownTemporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const before = process.env["TMPDIR"]
    const folder = mkdtempSync(join(tmpdir(), "starling-own-"))
    process.env["TMPDIR"] = folder
    return { before, folder }
  }),
  ({ before, folder }) =>
    Effect.sync(() => {
      if (before === undefined) delete process.env["TMPDIR"]
      else process.env["TMPDIR"] = before
      rmSync(folder, { recursive: true, force: true })
    })
).pipe(Effect.map(({ folder }) => folder))

/** A new folder; it ends with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
