/** Forms as bytes, and a reader of them without a socket. */
import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { type FormSpec, HttpCall, readForm } from "#http"

export interface Part {
  readonly name: string
  readonly body: string | Uint8Array
  readonly fileName?: string
  readonly type?: string
}

const bytesOf = (body: string | Uint8Array) => (typeof body === "string" ? Buffer.from(body) : Buffer.from(body))

export const packed = (parts: ReadonlyArray<Part>, boundary = "b0und", isClosed = true): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, body, fileName, type }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
          (fileName === undefined ? "" : `; filename="${fileName}"`) +
          (type === undefined ? "" : `\r\nContent-Type: ${type}`) +
          "\r\n\r\n"
      ),
      bytesOf(body),
      Buffer.from("\r\n")
    ]),
    Buffer.from(isClosed ? `--${boundary}--\r\n` : "")
  ])

export const contentType = (boundary = "b0und") => `multipart/form-data; boundary=${boundary}`

export const callFacts: HttpCall["Service"] = {
  requestId: "r1",
  method: "POST",
  route: "/forms",
  params: {},
  query: {},
  remoteAddress: "127.0.0.1",
  header: () => Option.none()
}

/** The body in pieces of a size; the reader pulls them one by one. */
const inPieces = (body: Uint8Array, pieceBytes: number) => {
  let at = 0
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (at >= body.length) return controller.close()
      controller.enqueue(body.slice(at, at + pieceBytes))
      at += pieceBytes
    }
  })
}

/** Reads a form as a handler would; its files on disk are gone after `use`. */
export const reading = (
  spec: FormSpec,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  pieceBytes = 65_536
) => {
  const all = { "content-type": contentType(), ...headers }
  const request = new Request("http://a/forms", {
    method: "POST",
    headers: all,
    body: inPieces(body, pieceBytes),
    duplex: "half"
  } as RequestInit)
  return readForm(spec).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
    Effect.provideService(HttpCall, callFacts)
  )
}
