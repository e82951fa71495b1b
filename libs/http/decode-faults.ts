/** Every fault of a decoded value by its path, as `turns[0].input`, in words short enough for an answer. Pure. */
import { SchemaIssue } from "effect"

const faultsMax = 50
const messageCharactersMax = 200

const format = SchemaIssue.makeFormatterStandardSchemaV1()

export const fieldsOf = (issue: SchemaIssue.Issue): Record<string, string> => {
  const fields = new Map<string, string>()
  for (const { path, message } of format(issue).issues) {
    if (fields.size >= faultsMax) break
    const name = nameOf(path ?? [])
    if (!fields.has(name)) fields.set(name, message.slice(0, messageCharactersMax))
  }
  return Object.fromEntries(fields)
}

type Step = PropertyKey | { readonly key: PropertyKey }

const nameOf = (path: ReadonlyArray<Step>): string => {
  let name = ""
  for (const step of path) {
    const key = typeof step === "object" ? step.key : step
    if (typeof key === "number") name += `[${key}]`
    else name += name === "" ? String(key) : `.${String(key)}`
  }
  return name === "" ? "body" : name.slice(0, messageCharactersMax)
}
