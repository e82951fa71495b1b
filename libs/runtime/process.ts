/** Facts of the process, as data: its environment, the role of the running code, the addresses of its roles. */
import { Context, Effect, Layer } from "effect"

/** Only `main.ts` files fill it; all other code reads it here. */
export const Environment = Context.Reference<Readonly<Record<string, string | undefined>>>(
  "starling/runtime/Environment",
  { defaultValue: () => ({}) }
)

/** The role of the running code: the label `role` in metrics, the field `role` in logs, the name on the bus. */
export const Role = Context.Reference<string>("starling/runtime/Role", { defaultValue: () => "fleet" })

/** The addresses of this process' roles, by the role's name, for the launcher to show. */
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
