/** Replicas of a role on one broker, each with its own connection and services. */
import { Context, Effect, Layer, Result } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { Kv } from "#bus"
import { Idempotency, type IdempotencyOptions, type WireError } from "#http"
import { Metrics } from "#runtime"
import { busOn } from "../../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"

export const replicaOf = (server: TestNatsServer, options: IdempotencyOptions = {}) =>
  Effect.map(
    Layer.build(Idempotency.layer(options).pipe(Layer.provideMerge(busOn(server)))),
    (context): Context.Context<Idempotency | Kv | Metrics> => context
  )

export type Replica = Context.Context<Idempotency | Kv | Metrics>

export const request = (more: Partial<Parameters<Idempotency["Service"]["run"]>[0]> = {}) => ({
  workspace: "w1",
  route: "/v1/voices",
  key: "k1" as string | undefined,
  fingerprint: "f1",
  ...more
})

/** A caller's view of an answer or a refusal. */
export interface Seen {
  readonly status: number
  readonly code?: string
  readonly type?: string | undefined
  readonly text?: string
  readonly replayed?: string | undefined
}

export const seen = (ended: Effect.Effect<HttpServerResponse.HttpServerResponse, WireError>) =>
  Effect.map(Effect.result(ended), (result): Seen => {
    if (Result.isFailure(result)) return { status: result.failure.status, code: result.failure.code }
    const { status, headers, body } = result.success
    const text = body._tag === "Uint8Array" ? Buffer.from(body.body).toString() : body._tag
    const type = body._tag === "Uint8Array" ? body.contentType : undefined
    return { status, type, text, replayed: headers["idempotent-replayed"] }
  })

export const countOf = (replica: Replica, outcome: string) =>
  Effect.map(Context.get(replica, Metrics).text, (text) =>
    Number(new RegExp(`http_idempotent_requests_total\\{[^}]*outcome="${outcome}"\\} (\\d+)`, "u").exec(text)?.[1] ?? 0)
  )
