/** Receivers on the test's own sockets, and clients that may reach exactly those. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo, Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { type EgressClient, type ResolvedAddress, Resolver, UntrustedHttp } from "#egress"
import { Metrics } from "#runtime"

interface Listening {
  readonly port: number
  /** Connections that were ever made to it. */
  readonly connections: () => number
}

export const listen = (server: Server, host?: string) =>
  Effect.acquireRelease(
    Effect.callback<Listening>((resume) => {
      let connections = 0
      server.on("connection", () => (connections += 1))
      server.listen({ port: 0, host }, () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, connections: () => connections }))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        if ("closeAllConnections" in server) (server as { closeAllConnections: () => void }).closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

export const serve = (handler: RequestListener) => listen(createServer(handler))

export const certificate = () => {
  const folder = mkdtempSync(join(tmpdir(), "starling-tls-"))
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "1",
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=DNS:localhost,IP:127.0.0.1",
      "-keyout",
      key,
      "-out",
      cert
    ],
    { stdio: "ignore" }
  )
  const pair = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
  rmSync(folder, { recursive: true })
  return pair
}

export const egress = UntrustedHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

export const openClient = (
  options: {
    connections?: number
    allow?: ReadonlyArray<string>
    trusted?: string
    connectTimeoutMs?: number
    names?: Record<string, ReadonlyArray<string>>
  } = {}
) =>
  Effect.gen(function* () {
    const untrusted = yield* UntrustedHttp
    const client = untrusted.open({
      use: "test",
      allowCidrs: options.allow ?? [],
      connectionsPerLaneMax: options.connections ?? 4,
      lanesMax: 8,
      connectTimeoutMs: options.connectTimeoutMs ?? 1_000,
      trusted: options.trusted
    })
    const names = options.names
    if (names === undefined) return yield* client
    return yield* Effect.provideService(client, Resolver, (host, done) => {
      const addresses = (names[host] ?? []).map((address): ResolvedAddress => ({
        address,
        family: address.includes(":") ? 6 : 4
      }))
      done(null, addresses)
    })
  })

export const post = (
  client: EgressClient,
  url: string,
  options: { deadlineMs?: number; responseBytesMax?: number } = {}
) =>
  client.request({
    method: "POST",
    url,
    headers: { "Content-Type": "text/plain" },
    body: new TextEncoder().encode("hello"),
    deadlineMs: options.deadlineMs ?? 3_000,
    responseBytesMax: options.responseBytesMax ?? 1_024
  })

export const loopback = ["127.0.0.0/8"]
