/** Lexicons of a workspace: how words are to be spoken, and their routes. Field names are those of the wire. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { BearerToken, described, NullIsAbsent } from "#base/http"
import { Count, describe, Timestamp } from "#base"
import { readCodes, refusals } from "./error-codes.ts"

/** A segment of a path as it is. */
export const LexiconName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u)).pipe(
  describe("Letters, digits, `-` and `_`, 64 at most.")
)

/** Of one request. */
export const lexiconsNamedMax = 8

export const LexiconNames = Schema.optionalKey(
  Schema.Array(LexiconName).check(Schema.isMaxLength(lexiconsNamedMax))
).pipe(
  describe(
    "The lexicons of the workspace that say how words are spoken; of two for a word the first counts. Without it, the " +
      "workspace's defaults; an empty list for none."
  )
)

export const LexiconRequest = Schema.Struct({
  content: Schema.String.pipe(
    describe("A document of PLS 1.0, or a plain list: a line for each word, `SQL = sequel` or `Nguyen /ŋwiən/`.")
  ),
  default: Schema.optionalKey(Schema.Boolean).pipe(
    describe("Whether requests that name no lexicons use it; false without it.")
  )
}).annotate({ identifier: "LexiconRequest" })
export interface LexiconRequest extends Schema.Schema.Type<typeof LexiconRequest> {}

const fields = {
  name: LexiconName,
  format: Schema.Literals(["pls", "list"]),
  language: Schema.NullOr(Schema.String).pipe(describe("Of the texts that it is for; null for any.")),
  words: Count.pipe(describe("How many spellings of words it has.")),
  default: Schema.Boolean,
  updated_at: Timestamp
}

export const Lexicon = Schema.Struct(fields).annotate({ identifier: "Lexicon" })
export interface Lexicon extends Schema.Schema.Type<typeof Lexicon> {}

export const LexiconDocument = Schema.Struct({
  ...fields,
  content: Schema.String.pipe(describe("As it was sent."))
}).annotate({ identifier: "LexiconDocument" })
export interface LexiconDocument extends Schema.Schema.Type<typeof LexiconDocument> {}

export const LexiconList = Schema.Struct({
  lexicons: Schema.Array(Lexicon).pipe(describe("By name.")),
  lexicons_max: Count.pipe(describe("How many the workspace may have."))
}).annotate({ identifier: "LexiconList" })
export interface LexiconList extends Schema.Schema.Type<typeof LexiconList> {}

const path = "/v1/lexicons/:name"
const ofLexicon = { name: Schema.String }

export const LexiconsGroup = HttpApiGroup.make("lexicons", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listLexicons", "/v1/lexicons", {
      disableCodecs: true,
      success: LexiconList,
      error: refusals(...readCodes)
    }).annotateMerge(
      described({
        scope: "voices:read",
        summary: "List the lexicons",
        description: "Those of the workspace, all in one answer."
      })
    ),
    HttpApiEndpoint.put("putLexicon", path, {
      disableCodecs: true,
      params: ofLexicon,
      payload: LexiconRequest,
      success: Lexicon,
      error: refusals(
        ...readCodes,
        "bad_request",
        "validation_failed",
        "payload_too_large",
        "unsupported_media_type",
        "forbidden",
        "too_many_lexicons",
        "not_found"
      )
    }).annotateMerge(
      described({
        scope: "voices:create",
        permission: "content.manage",
        summary: "Store a lexicon",
        description:
          "Makes it, or replaces the whole of it. The content is read at once: all faults come with their lines, and nothing " +
          "changes then. Speech that begins after the answer follows it, and has another `ETag` where its words are in the text.",
        example: { content: "SQL = sequel\nNguyen /ŋwiən/\n", default: true }
      })
    ),
    HttpApiEndpoint.get("getLexicon", path, {
      disableCodecs: true,
      params: ofLexicon,
      success: LexiconDocument,
      error: refusals(...readCodes, "lexicon_not_found", "not_found")
    }).annotateMerge(
      described({
        scope: "voices:read",
        summary: "Fetch a lexicon",
        description: "With its content, as it was sent."
      })
    ),
    HttpApiEndpoint.delete("deleteLexicon", path, {
      disableCodecs: true,
      params: ofLexicon,
      success: HttpApiSchema.NoContent,
      error: refusals(...readCodes, "forbidden", "lexicon_not_found", "not_found")
    }).annotateMerge(
      described({
        scope: "voices:delete",
        permission: "content.manage",
        summary: "Delete a lexicon",
        description: "What is being spoken with it is spoken to its end."
      })
    )
  )
  .middleware(BearerToken)
  .annotateEndpoints(NullIsAbsent, true)
