/** Whose pages may call an API of ours from a browser: origins as browsers write them, or `*` for every page. */
import { Schema } from "effect"

/** `https://app.example.com`, without a path or a slash at its end. */
const isOrigin = (text: string) => {
  if (text === "*") return true
  const url = URL.canParse(text) && !text.includes("*") ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "neither * nor an origin of https or http"
  }
  return url.origin === text ? true : `an origin is written as browsers do: ${url.origin}`
}

export const AllowedOrigins = Schema.Array(
  Schema.String.check(Schema.isMaxLength(512), Schema.makeFilter(isOrigin))
).check(Schema.isMaxLength(64))
