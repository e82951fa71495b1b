/**
 * The engines that a synthesizer loads from the host's libraries, and the packages that the host must have for them.
 * Their names are in the contracts, because messages and manifests carry them.
 */
import type { EmbeddedEngine } from "#speech/contract"
import { type EnginePoolOptions, openEnginePool } from "./EnginePool.ts"

interface EmbeddedOptions {
  readonly engine: EmbeddedEngine
  /** The packages that the host must have installed, by their Debian names. */
  readonly packages: string
  readonly threadsMax?: number
  readonly isRepeatable?: boolean
}

const embeddedEngine = ({ engine, threadsMax = Number.POSITIVE_INFINITY, ...options }: EmbeddedOptions) => ({
  packages: options.packages,
  /** `threads`: the configured number; an engine can use fewer. */
  open: ({ threads = 1, ...limits }: Pick<EnginePoolOptions, "threads" | "jobMsMax"> = {}) =>
    openEnginePool({ ...options, ...limits, engine, speaks: engine, threads: Math.min(threads, threadsMax) })
})

export const embedded: Readonly<Record<EmbeddedEngine, ReturnType<typeof embeddedEngine>>> = {
  /** Small, fast, a hundred languages, exact word times. It is GPL, so it is loaded from the host at run time. */
  espeak: embeddedEngine({
    engine: "espeak",
    packages: "libespeak-ng1 and espeak-ng-data",
    isRepeatable: true
  }),
  /** Four American voices, more human than espeak's, at a tenth of its speed; its licence is free of copyleft. */
  flite: embeddedEngine({
    engine: "flite",
    packages: "libflite1",
    // Its statistical voices share one random generator: with one thread the same text gives the same bytes.
    threadsMax: 1
  })
}
