/**
 * What an API says about itself: its OpenAPI document and its reference page, as it serves them and as they appear in
 * the docs. Pure.
 */
import type { HttpApi, HttpApiGroup } from "effect/http-api"
import { type ApiParts, type JsonObject, openApiOf } from "./document.ts"
import { apiPage, type PageOptions } from "./page.ts"

interface DescribedApi<Id extends string, Groups extends HttpApiGroup.Constraint> extends Omit<
  PageOptions,
  "document"
> {
  readonly api: HttpApi.HttpApi<Id, Groups>
  readonly parts: ApiParts
  /** The folder of `libs` that declares its contract. */
  readonly product: string
  /** The file names of both in the docs, if they differ from the product's. */
  readonly files?: { readonly openApi: string; readonly page: string }
  /** What serves it, if not a fleet. */
  readonly servedBy?: string
  /** Further reading, for readers of the docs. */
  readonly alsoSee?: string
}

export const apiDocuments = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  describe: () => DescribedApi<Id, Groups>
) => {
  const openApi = (): JsonObject => {
    const { api, parts } = describe()
    return openApiOf(api, parts)
  }
  const pageWith = (machines: string) => {
    const { introduction, ...page } = describe()
    return apiPage({ ...page, introduction: [machines, ...introduction], document: openApi() })
  }
  const filesOf = ({ product, files }: DescribedApi<Id, Groups>) =>
    files ?? { openApi: `${product}-openapi.json`, page: `${product}-api.md` }
  /** The page in the docs. */
  const page = () => {
    const described = describe()
    const { product, servedBy = "fleet", alsoSee } = described
    const file = filesOf(described).openApi
    const machines =
      `Made from the declaration in \`libs/${product}/contract/api\` by \`./starling docs\`. The same for machines: ` +
      `[${file}](${file}), and \`GET /openapi.json\` of a running ${servedBy}.`
    return pageWith(alsoSee === undefined ? machines : `${machines} ${alsoSee}`)
  }
  const servedPage = () => pageWith("The same for machines: [openapi.json](openapi.json).")
  const files = () => {
    const names = filesOf(describe())
    return [
      { path: `docs/${names.openApi}`, content: `${JSON.stringify(openApi(), null, 2)}\n` },
      { path: `docs/${names.page}`, content: page() }
    ]
  }
  return { openApi, page, servedPage, files }
}
