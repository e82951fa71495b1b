/** Headers of an answer as the client library gives them, as one text each. Pure. */

/** Repeated ones are joined by a comma. */
export const flat = (given: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>) => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ")
  }
  return headers
}
