/** The entry of a thread that compares speaker embeddings. */
import { openEmbeddings } from "./embeddings.ts"
import { serveDistances } from "./serve.ts"

serveDistances(({ model }) => openEmbeddings(model))
