/** The entry of a thread of flite. */
import { serveJobs } from "../worker/serve.ts"
import { openFlite } from "./binding.ts"

serveJobs(openFlite)
