/** The entry of a thread of espeak-ng. */
import { serveJobs } from "../worker/serve.ts"
import { openEspeak } from "./binding.ts"

serveJobs(openEspeak)
