/**
 * espeak-ng: small, fast, a hundred languages, exact word times. It is GPL, so it is loaded from the host at run time.
 */
import { type EngineThreadsOptions, openEngineThreads } from "../EngineThreads.ts"
import { espeakPackages } from "./packages.ts"

export type EspeakOptions = Pick<EngineThreadsOptions, "threads" | "waitingMax" | "jobMsMax" | "libraryFolders">

export const openEspeakPool = (options: EspeakOptions = {}) =>
  openEngineThreads({
    ...options,
    engine: "espeak",
    entry: new URL("./thread.ts", import.meta.url),
    packages: espeakPackages
  })
