/** Finds the anvil program: in the package for this machine's platform, beside the package that lists them all. */
import { createRequire } from "node:module"
import { Effect, Schema } from "effect"

export class AnvilMissing extends Schema.TaggedError<AnvilMissing>()("AnvilMissing", { detail: Schema.String }) {
  override get message() {
    return `anvil was not found: ${this.detail}. ./starling up installs it.`
  }
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" }

export const findAnvil: Effect.Effect<string, AnvilMissing> = Effect.try({
  try: () => {
    const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`
    return createRequire(import.meta.url).resolve(`${name}/bin/anvil`)
  },
  catch: (error) => new AnvilMissing({ detail: error instanceof Error ? error.message : String(error) })
})
