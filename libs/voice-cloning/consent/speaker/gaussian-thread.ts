/** The entry of a thread that compares vocal tracts. */
import { voiceDistance } from "./gaussian.ts"
import { serveDistances } from "./serve.ts"

serveDistances(() => voiceDistance)
