/** Refusals in the shape and with the status codes of the vendor whose client called. */
import { Effect, Option } from "effect"
import { HttpCall, jsonAnswer, type Route, type WireError } from "#http"

export type VendorRefusal = (error: WireError, requestId: string) => { readonly status: number; readonly body: object }

/** `keyHeader`: on routes that are also ours, only calls with the vendor's key are refused in its shape. */
export const refusingAs =
  (write: VendorRefusal, keyHeader?: string) =>
  <R>(routes: ReadonlyArray<Route<R>>): ReadonlyArray<Route<R | HttpCall>> =>
    routes.map((each) => ({
      ...each,
      handler: Effect.catch(each.handler, (error) =>
        Effect.flatMap(HttpCall, ({ header, requestId }) => {
          if (keyHeader !== undefined && Option.isNone(header(keyHeader))) return Effect.fail(error)
          const { body, status } = write(error, requestId)
          return Effect.succeed(jsonAnswer(body, { status, headers: error.headers ?? {} }))
        })
      )
    }))
