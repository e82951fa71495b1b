/** flite: four American voices, more human than espeak's, at a tenth of its speed; its licence is free of copyleft. */
import { type EngineThreadsOptions, openEngineThreads } from "../EngineThreads.ts"
import { flitePackages } from "./parameters.ts"

export type FliteOptions = Pick<EngineThreadsOptions, "threads" | "waitingMax" | "jobMsMax" | "libraryFolders">

export const openFlitePool = (options: FliteOptions = {}) =>
  openEngineThreads({
    ...options,
    engine: "flite",
    entry: new URL("./thread.ts", import.meta.url),
    packages: flitePackages
  })
