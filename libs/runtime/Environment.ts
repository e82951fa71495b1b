/** The process' environment as data. Only `main.ts` files fill it; everything else reads it here. */
import { Context } from "effect"

export const Environment = Context.Reference<Readonly<Record<string, string | undefined>>>(
  "starling/runtime/Environment",
  { defaultValue: () => ({}) }
)
