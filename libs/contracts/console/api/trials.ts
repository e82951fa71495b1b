/** Trials that a fleet of one machine pays itself, with the worthless money of its own chains. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { BearerToken, described } from "../../http/declaration.ts"
import { describe, text } from "../../primitives.ts"
import { refusals, writeCodes } from "./error-codes.ts"

// A quote with its resource and a few offers has some two thousand characters.
const headerCharactersMax = 16_384

export const TrialQuote = Schema.Struct({
  quote: text(headerCharactersMax).pipe(describe("The value of `PAYMENT-REQUIRED`, as the gateway sent it."))
}).annotate({ identifier: "TrialQuote" })

export const TrialPayment = Schema.Struct({
  payment: Schema.String.pipe(
    describe("For `PAYMENT-SIGNATURE`. Sent again with the same call, it is still one payment.")
  )
}).annotate({ identifier: "TrialPayment" })

export const TrialsGroup = HttpApiGroup.make("trials", { topLevel: true })
  .add(
    HttpApiEndpoint.post("signTrialPayment", "/trials/payments", {
      disableCodecs: true,
      payload: TrialQuote,
      success: TrialPayment,
      error: refusals(...writeCodes, "conflict")
    }).annotateMerge(
      described({
        scope: "console:write",
        summary: "Sign a trial's payment",
        description:
          "Only where `./starling up` made the chain, whose money is worth nothing: the fleet signs the quote's first offer, up to " +
          "a dollar. Elsewhere it is a conflict. The key stays with the fleet.",
        example: { quote: "eyJ4NDAyVmVyc2lvbiI6Mn0=" }
      })
    )
  )
  .middleware(BearerToken)
