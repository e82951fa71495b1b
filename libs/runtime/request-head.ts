/**
 * What node accepts in the head of a request and HTTP does not: single-valued headers given twice. Of some of them node
 * silently keeps the first, while a proxy in front may have judged by the last. Pure.
 */
import type { IncomingMessage } from "node:http"

const single: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "host",
  "idempotency-key",
  "origin",
  "proxy-authorization"
])

/** Undefined for a head that has each of them at most once, and has a Host. */
export const faultOfHead = ({
  rawHeaders,
  httpVersionMajor,
  httpVersionMinor
}: Pick<IncomingMessage, "rawHeaders" | "httpVersionMajor" | "httpVersionMinor">): string | undefined => {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? "").toLowerCase()
    if (!single.has(name)) continue
    if (seen.has(name)) return `the header ${name} is there twice`
    seen.add(name)
  }
  const isOlder = httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor === 0)
  return isOlder || seen.has("host") ? undefined : "the header host is missing"
}
