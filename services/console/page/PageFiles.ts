/**
 * The built page: read once, because it is a few hundred kilobytes and its names change with their content; and served.
 */
import { hash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { extname, join } from "node:path"
import { Context, Effect, Layer, Option } from "effect"
import { Configuration } from "#configuration"
import { bytesAnswer, emptyAnswer, HttpCall, notFound, route } from "#http"
import { PageAccess } from "./PageAccess.ts"

export type Packing = "br" | "gzip" | "identity"

export interface PageFile {
  readonly contentType: string
  readonly etag: string
  readonly bytes: Readonly<Record<Packing, Uint8Array>>
  /** The hash of each inline script, as a policy names it. */
  readonly scriptHashes: ReadonlyArray<string>
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8"
}

const filesMax = 512

export class PageFiles extends Context.Service<
  PageFiles,
  {
    /** `index.html`, or a name in `assets`. */
    readonly file: (path: string) => PageFile | undefined
  }
>()("starling/console/PageFiles") {
  static readonly layer = Layer.effect(
    PageFiles,
    Effect.gen(function* () {
      const { Page, PageFolder } = (yield* Configuration).Console
      const files = Page
        ? yield* Effect.catch(
            Effect.tryPromise(() => readPage(PageFolder)),
            (error) =>
              Effect.as(
                Effect.logWarning(`there is no built page in ${PageFolder}`, error),
                new Map<string, PageFile>()
              )
          )
        : new Map<string, PageFile>()
      return PageFiles.of({ file: (path) => files.get(path) })
    })
  )
}

const readPage = async (folder: string): Promise<ReadonlyMap<string, PageFile>> => {
  const names = (await readdir(join(folder, "assets"))).filter((name) => Object.hasOwn(contentTypes, extname(name)))
  if (names.length > filesMax) throw new RangeError(`${names.length} files are more than a page has`)
  const paths = ["index.html", ...names.map((name) => `assets/${name}`)]
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFileOf(join(folder, path))] as const)))
}

const readFileOf = async (path: string): Promise<PageFile> => {
  const [identity, br, gzip] = await Promise.all([readFile(path), readFile(`${path}.br`), readFile(`${path}.gz`)])
  return {
    contentType: contentTypes[extname(path)] ?? "application/octet-stream",
    etag: hash("sha256", identity, "base64url").slice(0, 22),
    bytes: { identity, br, gzip },
    scriptHashes: extname(path) === ".html" ? scriptHashesOf(identity.toString("utf8")) : []
  }
}

/** Pure. */
export const scriptHashesOf = (page: string): ReadonlyArray<string> =>
  page
    .split("<script>")
    .slice(1)
    .map((rest) => `'sha256-${hash("sha256", rest.split("</script>", 1).join(), "base64")}'`)

/** The smallest encoding that a browser accepts. Pure. */
export const packingFor = (accepted: string | undefined): Packing => {
  const taken = (accepted ?? "").split(",").flatMap((each) => {
    const [name = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase())
    return parameters.some((parameter) => /^q=0(?:\.0*)?$/u.test(parameter)) ? [] : [name]
  })
  return (["br", "gzip"] as const).find((name) => taken.includes(name)) ?? "identity"
}

/**
 * Nothing from other hosts, nothing inline except the script with these hashes, no frames; sounds are generated here.
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
