/** Routes of money: receipts, their sums and their table, and claims. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, refusals } from "../error-codes.ts"
import {
  claimParams,
  ClaimPage,
  ClaimsQuery,
  ClaimWhole,
  csvLinesMax,
  csvReadMax,
  ReceiptPage,
  ReceiptsCsvQuery,
  ReceiptsQuery,
  ReceiptSums,
  ReceiptWhole,
  SumsQuery,
  sumsReadMax
} from "../money.ts"
import { sequenceParams } from "../parts.ts"

const count = (value: number) => value.toLocaleString("en-US")

export const ReceiptsGroup = HttpApiGroup.make("receipts", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listReceipts", "/receipts", {
      disableCodecs: true,
      query: ReceiptsQuery.fields,
      success: ReceiptPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List receipts",
        description:
          "The ends of payments of the last 400 days, as far as 8 GiB hold them. By chain and payer they are found at once; by " +
          "model, outcome or transaction a page may be short, or empty with a cursor, where few match."
      })
    ),
    HttpApiEndpoint.get("getReceiptsCsv", "/receipts.csv", {
      disableCodecs: true,
      query: ReceiptsCsvQuery.fields,
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/csv" }),
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Get receipts as a table",
        description:
          `CSV with a line of headings, oldest first, ${count(csvLinesMax)} lines at most: with so many, go on with \`after\`. ` +
          `A time that holds more than ${count(csvReadMax)} receipts is refused. A connection that breaks before its last chunk ` +
          "means that the table is not whole. A text that a spreadsheet could take for a formula begins with an apostrophe."
      })
    ),
    HttpApiEndpoint.get("sumReceipts", "/receipts/sums", {
      disableCodecs: true,
      query: SumsQuery.fields,
      success: ReceiptSums,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Sum up receipts",
        description:
          "By day, model or payer, each asset by itself. " +
          `The newest ${count(sumsReadMax)} receipts of the time asked for are read; \`read\`, \`isWhole\` and \`from\` say how far that went.`
      })
    ),
    HttpApiEndpoint.get("getReceipt", "/receipts/:sequence", {
      disableCodecs: true,
      params: sequenceParams,
      success: ReceiptWhole,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at a receipt",
        description: "With its claim, while that is kept."
      })
    )
  )
  .middleware(BearerToken)

export const ClaimsGroup = HttpApiGroup.make("claims", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listClaims", "/claims", {
      disableCodecs: true,
      query: ClaimsQuery.fields,
      success: ClaimPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List claims",
        description:
          "Payments in use for a call. Those that have not ended are found at once; the ended ones are kept for a day after " +
          "their payment's own end, and are better looked for among receipts. Signatures are not shown."
      })
    ),
    HttpApiEndpoint.get("getClaim", "/claims/:key", {
      disableCodecs: true,
      params: claimParams,
      success: ClaimWhole,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at a claim",
        description: "With its receipts, and what holds of its payer."
      })
    )
  )
  .middleware(BearerToken)
