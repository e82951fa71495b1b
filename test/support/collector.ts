/** A collector of traces for tests: accepts posts to /v1/traces and shows the spans. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface CollectedSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
}

export interface Collector {
  readonly url: string
  readonly spans: ReadonlyArray<CollectedSpan>
  /** The posted bodies, unchanged. */
  readonly bodies: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

interface Posted {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<{ readonly value: { readonly stringValue: string } }> }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Omit<CollectedSpan, "service">> }>
  }>
}

export const startCollector = () =>
  new Promise<Collector>((resolve) => {
    const spans: Array<CollectedSpan> = []
    const bodies: Array<string> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        if (request.method !== "POST" || request.url !== "/v1/traces") return response.writeHead(404).end()
        const body = Buffer.concat(chunks).toString("utf8")
        bodies.push(body)
        const posted = JSON.parse(body) as Posted
        for (const { resource, scopeSpans } of posted.resourceSpans) {
          const service = resource.attributes[0]?.value.stringValue ?? ""
          for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })))
        }
        return response.writeHead(200, { "Content-Type": "application/json" }).end("{}")
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed())
          server.closeAllConnections()
        })
      resolve({ url: `http://127.0.0.1:${port}`, spans, bodies, close })
    })
  })
