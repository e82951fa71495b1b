/** The reference of the pipeline's API as a page, from its declaration. Pure; docs/pipeline-api.md is written from it. */
import { nullInBodies, pipelineErrorCodes } from "#contracts/pipeline-api"
import { apiPage } from "#http"
import { pipelineOpenApi } from "./document.ts"

/** `machines`: the line that links to the machine-readable document. */
const pageWith = (machines: string) =>
  apiPage({
    title: "The pipeline API",
    introduction: [
      machines,
      "Calls carry `Authorization: Bearer <token>`; `./starling token make --role member` makes a token. The examples take it from " +
        "`$TOKEN`, and the address from `$PIPELINE`.",
      nullInBodies
    ],
    document: pipelineOpenApi(),
    errorCodes: pipelineErrorCodes,
    address: "$PIPELINE"
  })

/** The page among the documents. */
export const pipelinePage = (): string =>
  pageWith(
    "Made from the declaration in `libs/contracts/pipeline/api` by `./starling docs`. The same for machines: " +
      "[pipeline-openapi.json](pipeline-openapi.json), and `GET /openapi.json` of a running fleet. Runners and internal " +
      "services speak to the pipeline over the bus: [asyncapi.json](asyncapi.json)."
  )

/** The page that the API itself serves. */
export const servedPage = (): string => pageWith("The same for machines: [openapi.json](openapi.json).")
