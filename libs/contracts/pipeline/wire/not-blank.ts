/** A text that says something. An empty one is told so by its length alone. */
import { Schema } from "effect"

export const isNotBlank = Schema.makeFilter(
  (value: string) => value === "" || value.trim() !== "" || "must not be blank"
)
