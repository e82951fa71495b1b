/** The free disk space where the runner works. */
import { statfs } from "node:fs/promises"
import { Effect } from "effect"

export const freeBytes = (folder: string) =>
  Effect.promise(async () => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  })
