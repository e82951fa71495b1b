/**
 * Opens a model once, in a process of its own: on files that are not such a model the library ends its process, which
 * must not be a role's. Called with the model's files as JSON.
 */
import { argv } from "node:process"
import { type ModelFiles, openNeuralVoice } from "./tts.ts"

const { hz } = openNeuralVoice(JSON.parse(argv[2] ?? "{}") as ModelFiles)
if (!(hz >= 8_000)) throw new Error(`a model with a sample rate of ${hz} Hz`)
