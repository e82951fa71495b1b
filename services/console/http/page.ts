/** The page itself: `/` and its files, open to everybody, for without a session it shows a form. */
import { Effect, Option } from "effect"
import { bytesAnswer, emptyAnswer, HttpCall, notFound, route } from "#http"
import { PageAccess } from "../page/PageAccess.ts"
import { packingFor, PageFiles } from "../page/PageFiles.ts"

/**
 * Nothing of another host, nothing that stands in the page itself but the script that these hashes name, in no frame;
 * sounds are made here.
 */
const policyWith = (scriptHashes: ReadonlyArray<string>) =>
  [["script-src 'self'", ...scriptHashes].join(" "), ...policy].join("; ")

const policy = [
  "default-src 'self'",
  "media-src 'self' blob:",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
]

const pageHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), payment=(), usb=(), microphone=(self)",
  vary: "accept-encoding"
}

const answerWith = Effect.fnUntraced(function* (path: string, caching: string) {
  const { header } = yield* HttpCall
  const access = yield* PageAccess
  yield* access.requireOn
  yield* access.requireName
  const file = (yield* PageFiles).file(path)
  if (file === undefined) {
    return yield* notFound(path === "index.html" ? "the page is not built: see Console.PageFolder" : "no such file")
  }
  const packing = packingFor(Option.getOrUndefined(header("accept-encoding")))
  const etag = `"${file.etag}-${packing}"`
  const headers = {
    ...pageHeaders,
    "content-security-policy": policyWith(file.scriptHashes),
    "cache-control": caching,
    etag
  }
  const known = Option.getOrElse(header("if-none-match"), () => "").split(",")
  if (known.some((each) => each.trim().replace(/^W\//u, "") === etag)) return emptyAnswer({ status: 304, headers })
  const packed = packing === "identity" ? headers : { ...headers, "content-encoding": packing }
  return bytesAnswer(file.bytes[packing], file.contentType, { headers: packed })
})

// Names change with their content, so a name's content never does.
const forGood = "public, max-age=31536000, immutable"

export const pageRoutes = [
  route("GET", "/", answerWith("index.html", "no-cache")),
  route(
    "GET",
    "/assets/:name",
    Effect.flatMap(HttpCall, ({ params }) => answerWith(`assets/${params["name"] ?? ""}`, forGood))
  )
] as const
