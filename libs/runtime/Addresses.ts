/** Where the roles of this process listen, by the role's name, for the launcher to show. */
import { Context, Effect, Layer } from "effect"

export class Addresses extends Context.Service<
  Addresses,
  {
    readonly add: (role: string, url: string) => Effect.Effect<void>
    readonly all: Effect.Effect<ReadonlyMap<string, string>>
  }
>()("starling/runtime/Addresses") {
  static readonly layer = Layer.sync(Addresses, () => {
    const urls = new Map<string, string>()
    return Addresses.of({
      add: (role, url) => Effect.sync(() => void urls.set(role, url)),
      all: Effect.sync(() => new Map(urls))
    })
  })
}
