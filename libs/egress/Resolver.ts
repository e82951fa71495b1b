/** Names to addresses. The system's resolver unless a test says otherwise. */
import { lookup } from "node:dns"
import { Context } from "effect"

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

export type Resolve = (
  host: string,
  done: (error: Error | null, addresses: ReadonlyArray<ResolvedAddress>) => void
) => void

export const Resolver = Context.Reference<Resolve>("starling/egress/Resolver", {
  defaultValue: () => (host, done) =>
    lookup(host, { all: true, order: "verbatim" }, (error, addresses) =>
      done(error, (addresses ?? []) as ReadonlyArray<ResolvedAddress>)
    )
})
