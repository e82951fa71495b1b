/** Routes of money: receipts, their sums and their table, and claims. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described } from "../../../http/declaration.ts"
import { listCodes, readCodes, refusals, writeCodes } from "../error-codes.ts"
import {
  Books,
  BooksQuery,
  claimParams,
  ClaimPage,
  ClaimsQuery,
  ClaimWhole,
  csvLinesMax,
  csvReadMax,
  findingParams,
  FindingSummary,
  FindingWhole,
  ReceiptPage,
  ReceiptsCsvQuery,
  ReceiptsQuery,
  ReceiptSums,
  ReceiptWhole,
  SumsQuery,
  sumsReadMax
} from "../money.ts"
import { Because, sequenceParams } from "../parts.ts"

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
          "By day, model or payer, each asset by itself, with what was settled, what providers took, and what remains. " +
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

export const BooksGroup = HttpApiGroup.make("books", { topLevel: true })
  .add(
    HttpApiEndpoint.get("getBooks", "/books", {
      disableCodecs: true,
      query: BooksQuery.fields,
      success: Books,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at the payment books",
        description:
          "How far the settlers' comparison of chain, claims and receipts is, and what it found. A finding stands until it is " +
          "mended or accepted, or a later comparison finds nothing any more."
      })
    ),
    HttpApiEndpoint.get("getFinding", "/books/:finding", {
      disableCodecs: true,
      params: findingParams,
      success: FindingWhole,
      error: refusals(...readCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "Look at a finding",
        description: "With its transfer, its receipts and its claims, what it means, and what to do about it."
      })
    ),
    HttpApiEndpoint.post("mendFinding", "/books/:finding/mend", {
      disableCodecs: true,
      params: findingParams,
      payload: Because,
      success: FindingSummary,
      error: refusals(...writeCodes, "not_found", "conflict")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Mend a finding",
        description:
          "A settler does what is safe: it settles an overdue payment, after a look at the chain; it writes a missing receipt; it " +
          "serves a payer again who has paid after all. Nothing is paid twice, and a repetition changes nothing. 409 where only a " +
          "person can explain the finding; 503 where no settler answers, or a chain does not say yet.",
        example: { reason: "the node is back" }
      })
    ),
    HttpApiEndpoint.post("acceptFinding", "/books/:finding/accept", {
      disableCodecs: true,
      params: findingParams,
      payload: Because,
      success: FindingSummary,
      error: refusals(...writeCodes, "not_found")
    }).annotateMerge(
      described({
        scope: "console:operate",
        summary: "Accept a finding",
        description:
          "It is explained, as the reason says, and is not told again. No money moves, and no receipt changes.",
        example: { reason: "a gift; sent back on 20 November" }
      })
    )
  )
  .middleware(BearerToken)
