/** Traces leave by a configured client: one connection, ten seconds, and no retry. */
import { Effect, Layer } from "effect"
import { OtlpRefused, OtlpTransport } from "#runtime"
import { ConfiguredHttp } from "./client.ts"

const utf8 = new TextEncoder()

/** `baseUrl`: the collector's, without `/v1/traces`. */
export const otlpTransport = (baseUrl: string) =>
  Layer.effect(
    OtlpTransport,
    Effect.gen(function* () {
      const client = yield* (yield* ConfiguredHttp).open({
        use: "otlp",
        connectionsPerLaneMax: 1,
        lanesMax: 1,
        connectTimeoutMs: 5_000
      })
      return OtlpTransport.of({
        send: (path, body) =>
          client
            .request({
              method: "POST",
              url: `${baseUrl.replace(/\/$/u, "")}${path}`,
              headers: { "Content-Type": "application/json" },
              body: utf8.encode(body),
              deadlineMs: 10_000,
              responseBytesMax: 4_096
            })
            .pipe(
              Effect.mapError((error) => new OtlpRefused({ reason: error.message })),
              Effect.flatMap(({ status }) =>
                status < 300 ? Effect.void : Effect.fail(new OtlpRefused({ reason: `status ${status}` }))
              )
            )
      })
    })
  )
