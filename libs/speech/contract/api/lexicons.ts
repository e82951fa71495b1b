/** Lexicons of a workspace: how words are spoken, and their routes. Field names are those of the wire. */
import { Schema } from "effect"
import { guarded, NullIsAbsent } from "#base/http"
import { Count, describe, Timestamp } from "#base"
import { speechEndpoints } from "./error-codes.ts"

/** A path segment without escaping. */
export const LexiconName = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/u)).pipe(
  describe("Letters, digits, `-` and `_`, 64 at most.")
)

/** Per request. */
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

const { read, remove } = speechEndpoints("lexicon_not_found", "not_found")
/** An unused name is not an error. */
const { put } = speechEndpoints("not_found")

export const LexiconsGroup = guarded(
  "lexicons",
  read("listLexicons", "/v1/lexicons", {
    success: LexiconList,
    summary: "List the lexicons",
    description: "Those of the workspace, all in one answer."
  }),
  put("putLexicon", path, {
    payload: LexiconRequest,
    success: Lexicon,
    refused: ["forbidden", "too_many_lexicons"],
    scope: "voices:create",
    permission: "content.manage",
    summary: "Store a lexicon",
    description:
      "Makes it, or replaces the whole of it. The content is read at once: all faults come with their lines, and nothing " +
      "changes then. Speech that begins after the answer follows it, and has another `ETag` where its words are in the text.",
    example: { content: "SQL = sequel\nNguyen /ŋwiən/\n", default: true }
  }),
  read("getLexicon", path, {
    success: LexiconDocument,
    summary: "Fetch a lexicon",
    description: "With its content, as it was sent."
  }),
  remove("deleteLexicon", path, {
    refused: ["forbidden"],
    scope: "voices:delete",
    permission: "content.manage",
    summary: "Delete a lexicon",
    description: "What is being spoken with it is spoken to its end."
  })
).annotateEndpoints(NullIsAbsent, true)
