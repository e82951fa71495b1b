/**
 * Creates something once for each idempotency key: a repeated request gets the first one's answer, and even if that
 * was lost on the way, the id is made of the key, so that nothing is created twice.
 */
import { randomUUID } from "node:crypto"
import { Effect, type Schema } from "effect"
import type { CommandError } from "#actors"
import { type Answer, Caller, HttpCall, Idempotency, idempotencyKey, jsonFingerprint, type WireError } from "#http"
import { uuidFrom } from "../ids.ts"
import { refusing } from "./refusals.ts"
import { readBody } from "./requests.ts"

/** `create` is given the id that the new one is to have. */
export const createOnce = <A, I, R>(
  schema: Schema.Codec<A, I>,
  create: (id: string, body: A) => Effect.Effect<Answer, CommandError | WireError, R>
) =>
  Effect.gen(function* () {
    const body = yield* readBody(schema)
    const key = yield* idempotencyKey(undefined)
    const { workspace } = yield* Caller
    const { route } = yield* HttpCall
    const id = key === undefined ? randomUUID() : uuidFrom(workspace, route, key)
    const request = { workspace, route: `POST ${route}`, key, fingerprint: jsonFingerprint(body) }
    return yield* (yield* Idempotency).run(request, refusing(create(id, body)))
  })
