/** A proxy in front of a gateway, by which each call comes from an address of its own: no address has many for free. */
import { createServer, request as requestOf } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, type Scope } from "effect"

const addressOf = (nth: number) => `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`

export const startFront = (target: string): Effect.Effect<string, never, Scope.Scope> => {
  let calls = 0
  const server = createServer((incoming, outgoing) => {
    const { method = "GET", url: path = "/" } = incoming
    const headers = { ...incoming.headers, "x-forwarded-for": addressOf((calls += 1)) }
    const onward = requestOf(`${target}${path}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(outgoing)
    })
    onward.once("error", () => outgoing.destroy())
    outgoing.once("close", () => onward.destroy())
    incoming.pipe(onward)
  })
  const listening = Effect.callback<string>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      resume(Effect.succeed(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    })
  })
  return Effect.acquireRelease(listening, () =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
  )
}
