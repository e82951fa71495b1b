/** The entry of flite's threads. */
import { serveJobs } from "../worker/serve.ts"
import { openFlite } from "./binding.ts"
import { makeFliteSpeaker } from "./speaker.ts"

serveJobs(() => makeFliteSpeaker(openFlite()))
