/** All files that an export writes, by their paths in its folder. Pure. */
import { asyncApiOf, schemaFile } from "./async-api.ts"
import type { ExportedFile, ExportedType } from "./exported-type.ts"
import { pythonOf } from "./python.ts"
import { typeScriptOf } from "./typescript.ts"
import verify from "./verify.json" with { type: "json" }

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

export const exportedFiles = (types: ReadonlyArray<ExportedType>): ReadonlyArray<ExportedFile> => [
  { path: "asyncapi.json", content: json(asyncApiOf(types)) },
  ...types.map(({ event, schema }) => ({ path: schemaFile(event), content: json(schema) })),
  { path: "events.ts", content: typeScriptOf(types) },
  { path: "verify.ts", content: verify.typescript },
  { path: "events.py", content: pythonOf(types) },
  { path: "verify.py", content: verify.python }
]
