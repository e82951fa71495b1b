/** What is true of the process, as data: its environment, which role the code runs as, where its roles listen. */
import { Context, Effect, Layer } from "effect"

/** Only `main.ts` files fill it; everything else reads it here. */
export const Environment = Context.Reference<Readonly<Record<string, string | undefined>>>(
  "starling/runtime/Environment",
  { defaultValue: () => ({}) }
)

/** Which role the code runs as: the label `role` in metrics, the field `role` in logs, the name on the bus. */
export const Role = Context.Reference<string>("starling/runtime/Role", { defaultValue: () => "fleet" })

/** Where the roles of this process listen, by the role's name, for the launcher to show. */
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
