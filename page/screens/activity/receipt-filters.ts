/** What receipts and their sums are filtered by, as the address says it. */
import { useFilters } from "../../address.ts"

export const filterNames = ["since", "until", "payer", "model", "outcome", "transaction", "network"] as const
export type FilterName = (typeof filterNames)[number]

export const useReceiptFilters = () => useFilters(filterNames)

interface ReceiptsQuery extends Readonly<Partial<Record<Exclude<FilterName, "outcome">, string>>> {
  readonly outcome?: "settled" | "uncollected" | "refunded"
}

/** As a query: a day stands for its beginning, or as an end for its last moment. */
export const queryOf = (values: Readonly<Record<FilterName, string>>): ReceiptsQuery => {
  const { since, until, payer, model, outcome, transaction, network } = values
  return {
    ...(since === "" ? {} : { since: `${since}T00:00:00.000Z` }),
    ...(until === "" ? {} : { until: `${until}T23:59:59.999Z` }),
    ...(payer === "" ? {} : { payer }),
    ...(model === "" ? {} : { model }),
    ...(outcome === "settled" || outcome === "uncollected" || outcome === "refunded" ? { outcome } : {}),
    ...(transaction === "" ? {} : { transaction }),
    ...(network === "" ? {} : { network })
  }
}
