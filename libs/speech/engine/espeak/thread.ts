/** The entry of espeak-ng's threads. */
import { serveJobs } from "../worker/serve.ts"
import { openEspeak } from "./binding.ts"
import { makeEspeakSpeaker } from "./speaker.ts"

serveJobs(() => makeEspeakSpeaker(openEspeak()))
