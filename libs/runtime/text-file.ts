/** Text files that operators name: the configuration, passwords, certificates, keys. */
import { readFile } from "node:fs/promises"
import { Effect, Schema } from "effect"
import { withoutByteOrderMark } from "#base"

class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", {
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
    try: async () => withoutByteOrderMark(await readFile(path, "utf8")),
    catch: (cause) => {
      const error = cause as NodeJS.ErrnoException
      return new FileUnreadable({ path, reason: error.message, isMissing: error.code === "ENOENT" })
    }
  })
