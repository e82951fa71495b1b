/** The entry of a thread that compares throats. */
import { voiceDistance } from "./gaussian.ts"
import { serveDistances } from "./serve.ts"

serveDistances(() => voiceDistance)
