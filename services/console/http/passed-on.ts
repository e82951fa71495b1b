/** `/apis/<name>/…`: calls of the page to the fleet's other APIs. */
import { Effect, Option, Stream } from "effect"
import {
  Admission,
  Auth,
  authenticated,
  Caller,
  HttpCall,
  type Method,
  relayedAnswer,
  relayedCall,
  route,
  unauthorized
} from "#http"
import { PageAccess } from "../page/PageAccess.ts"
import { ProxyPerson } from "../page/ProxyPerson.ts"
import { PassedOn } from "../page/PassedOn.ts"
import { whileSignedIn } from "./while-signed-in.ts"

// The recordings of which a voice is cloned are the largest that any of these APIs takes.
const bodyBytesMax = 33_554_432

const passOn = Effect.gen(function* () {
  yield* (yield* PageAccess).requireOn
  const token = yield* (yield* Auth).sent
  if (Option.isNone(token)) return yield* unauthorized()
  yield* (yield* Admission).enter((yield* Caller).workspace)
  const { api = "" } = (yield* HttpCall).params
  const { headers: headersLeft } = yield* ProxyPerson
  const call = yield* relayedCall({ prefix: `/apis/${api}`, bodyBytesMax, headersLeft })
  const { status, headers, body } = yield* (yield* PassedOn).send(api, call, token.value)
  // Events are complete one by one. Anything else breaks off, so that nobody takes a part of it for the whole.
  const areEvents = headers["content-type"]?.startsWith("text/event-stream") === true
  const seen = areEvents ? whileSignedIn(body) : whileSignedIn(body, unauthorized("the session has ended"))
  return relayedAnswer({ status, headers, body: Stream.provideContext(seen, yield* Effect.context<Auth | HttpCall>()) })
})

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** Which scope a call needs is said by the API that answers it. */
export const passedOnRoutes = methods.map((method) =>
  route(method, "/apis/:api/*", authenticated({ scopes: [] })(passOn))
)
