/** The operations of the API as data: what each takes, answers and refuses. The document and the page tell them. */
import { type ErrorCodeName, readCodes } from "./error-codes.ts"
import { fleetOperations } from "./fleet-operations.ts"
import { releaseOperations } from "./release-operations.ts"
import type { QueryName, SchemaName } from "./schemas.ts"
import { workItemOperations } from "./work-item-operations.ts"

export interface Operation {
  readonly id: string
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** As the listener knows it: `:name` for a segment. */
  readonly path: `/${string}`
  readonly summary: string
  readonly description: string
  /** None for what everybody may read. */
  readonly scope?: "pipeline:read" | "pipeline:write" | "pipeline:operate"
  readonly query?: QueryName
  readonly body?: {
    readonly schema: SchemaName
    readonly example: Readonly<Record<string, unknown>>
    readonly isOptional?: true
  }
  /** Of success; 200 without it. */
  readonly statuses?: ReadonlyArray<200 | 201>
  /** None: an OpenAPI document. */
  readonly answer?: SchemaName
  readonly codes: ReadonlyArray<ErrorCodeName>
}

/** What holds for the bodies of all of them. */
export const nullInBodies =
  "In a body, null for a field that may be left out is the same as leaving it out; " +
  "only where a field itself says what null stands for, it is a value."

export const operations: ReadonlyArray<Operation> = [
  ...workItemOperations,
  ...releaseOperations,
  ...fleetOperations,
  {
    id: "getDescription",
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    description: "OpenAPI 3.1, for everybody.",
    codes: readCodes.filter((code) => code === "internal_error")
  }
]
