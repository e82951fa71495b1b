/**
 * Opens a speaker model and measures once, in a process of its own: on a file that is not such a model the library ends
 * its process, which must not be a role's. Called with the path of the model.
 */
import { argv } from "node:process"
import { openEmbeddings } from "./embeddings.ts"

const second = Int16Array.from({ length: 16_000 }, (_, at) => 8_000 * Math.sin(at / 9) * Math.sin(at / 997))
const distance = openEmbeddings(argv[2] ?? "")(second, second, 16_000)
if (!(distance < 0.001)) throw new Error(`the model does not know a recording again: distance ${distance}`)
