/** The settings of the console's process as operators see them. Secrets are shown to nobody. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { settingSourceNames } from "../../configuration/effective-settings.ts"
import { BearerToken, described } from "../../http/declaration.ts"
import { pageQuery, pageSizeMax } from "../../pipeline/api/parts.ts"
import { describe } from "../../primitives.ts"
import { listCodes, refusals } from "./error-codes.ts"
import { NameFilter } from "./parts.ts"

const SettingView = Schema.Struct({
  key: Schema.String.pipe(describe("As `Bus.Url`, or `Payments.Networks[0].PayTo`.")),
  variable: Schema.NullOr(Schema.String).pipe(describe("The environment variable that stands over the file.")),
  value: Schema.Unknown.pipe(describe("Null when it is not set, and when all of it is hidden.")),
  isSet: Schema.Boolean,
  isHidden: Schema.Boolean.pipe(
    describe("A part of it, or all, is not shown: it is a secret, or a URL whose path may hold one.")
  ),
  source: Schema.Literals(settingSourceNames).pipe(
    describe("`launcher`: what started the process chose it, as `./starling up` does.")
  ),
  default: Schema.Unknown.pipe(describe("Null without one.")),
  why: Schema.String.pipe(describe("What the key is for."))
}).annotate({ identifier: "Setting" })

const SettingPage = Schema.Struct({
  file: Schema.NullOr(Schema.String).pipe(describe("The file that was read; null without one.")),
  items: Schema.Array(SettingView).check(Schema.isMaxLength(pageSizeMax)).pipe(describe("Settings, by section.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(describe("For `cursor`; null on the last page."))
}).annotate({ identifier: "SettingPage" })

const SettingsQuery = Schema.Struct({
  ...pageQuery,
  section: Schema.optionalKey(NameFilter).pipe(describe("Only those of this section, such as `Bus`."))
})

export const SettingsGroup = HttpApiGroup.make("settings", { topLevel: true })
  .add(
    HttpApiEndpoint.get("listSettings", "/settings", {
      disableCodecs: true,
      query: SettingsQuery.fields,
      success: SettingPage,
      error: refusals(...listCodes)
    }).annotateMerge(
      described({
        scope: "console:read",
        summary: "List settings",
        description:
          "Every key of the configuration, with its value in the console's process, where the value comes from, and what it " +
          "is for. All roles read the same file; a variable that only another role's process has is not seen here. Webhook " +
          "endpoints are under `/endpoints`."
      })
    )
  )
  .middleware(BearerToken)
