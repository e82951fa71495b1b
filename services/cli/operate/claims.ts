/** `claims`: payments in use for a call. */
import { readable } from "./amounts.ts"
import { family, operation } from "./operation.ts"

export const claims = family("claims", {
  about: "Payments in use for a call, and how far each is.",
  examples: ["starling claims list --state SETTLING"],
  commands: [
    operation("list", "listClaims", {
      about: "Payments in use for a call, the one that has not moved for longest first.",
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
      about: "One claim, with its receipts and what holds of its payer.",
      shown: readable
    })
  ]
})
