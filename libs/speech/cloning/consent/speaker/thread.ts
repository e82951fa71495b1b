/** The entry of a thread that compares two speakers: by the embeddings of a model, or without one by vocal tracts. */
import { openEmbeddings } from "./embeddings.ts"
import { voiceDistance } from "./voice-distance.ts"
import { serveDistances } from "./serve.ts"

serveDistances(({ model }) => (model === "" ? voiceDistance : openEmbeddings(model)))
