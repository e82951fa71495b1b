/** A thread of an engine that is not installed. */
import { findLibrary } from "../../../../libs/speech/engine/worker/library.ts"
import { serveJobs } from "../../../../libs/speech/engine/worker/serve.ts"

serveJobs(() => {
  throw new Error(findLibrary("libnothing.so.1"))
})
