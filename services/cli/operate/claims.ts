/** `claims`: payments in use for a call. */
import { readable } from "./amounts.ts"
import { family, operation } from "./operation.ts"

export const claims = family("claims", {
  about: "Claims: payments in use for a call, and the state of each.",
  examples: ["starling claims list --state SETTLING"],
  commands: [
    operation("list", "listClaims", {
      about: "Claims, the one that has not moved for longest first.",
      shown: readable,
      columns: {
        state: "state",
        claimed: "claimedAt",
        asked: "asked",
        amount: "amount",
        model: "model",
        payer: "payer",
        key: "key"
      },
      // It is wider than a cell.
      whole: ["key"]
    }),
    operation("show", "getClaim", {
      about: "One claim, with its receipts and its payer's state.",
      shown: readable
    })
  ]
})
