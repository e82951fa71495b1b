/**
 * The engines that a synthesizer loads from the host's libraries, one line each: how its threads are opened, and which
 * packages the host must have. Their names stand in the contracts, because messages and manifests carry them.
 */
import type { Effect, Scope } from "effect"
import type { EmbeddedEngine } from "#contracts"
import type { Metrics } from "#runtime"
import type { SpeechEngine } from "./Engine.ts"
import type { EngineFailed, EngineMissing } from "./errors.ts"
import { openEspeakPool } from "./espeak/EspeakPool.ts"
import { espeakPackages } from "./espeak/packages.ts"
import { openFlitePool } from "./flite/FlitePool.ts"
import { flitePackages } from "./flite/parameters.ts"

interface Embedded {
  /** `threads`: the configured number; an engine may take fewer. */
  readonly open: (options: {
    readonly threads: number
  }) => Effect.Effect<SpeechEngine, EngineMissing | EngineFailed, Metrics | Scope.Scope>
  /** The packages that the host must have installed, by their Debian names. */
  readonly packages: string
}

export const embedded: Readonly<Record<EmbeddedEngine, Embedded>> = {
  espeak: { open: openEspeakPool, packages: espeakPackages },
  // Its statistical voices share one random generator: with one thread the same text is the same bytes.
  flite: { open: () => openFlitePool(), packages: flitePackages }
}
