/** A small text file, read whole. */
import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"

export class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", {
  path: Schema.String,
  reason: Schema.String,
  isMissing: Schema.Boolean
}) {
  override get message() {
    return `${this.path} cannot be read: ${this.reason}`
  }
}

export const readTextFile = (path: string) =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => {
      const error = cause as NodeJS.ErrnoException
      return new FileUnreadable({ path, reason: error.message, isMissing: error.code === "ENOENT" })
    }
  })
