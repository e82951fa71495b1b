/** A port of the loopback address that nobody listens on, for a child that must be told one. */
import { createServer } from "node:net"
import { Effect, Option } from "effect"

// More neighbours than a person starts by hand; past them something else is wrong.
const triesMax = 100

/** `wanted` when it is free, else the next free one above; 0 takes any. Nothing when a hundred are taken. */
export const freePort = Effect.fnUntraced(function* (wanted: number) {
  for (let port = wanted; port < wanted + triesMax && port <= 65_535; port++) {
    const found = yield* tryPort(port)
    if (Option.isSome(found)) return found
  }
  return Option.none<number>()
})

const tryPort = (port: number) =>
  Effect.callback<Option.Option<number>>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeedNone))
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address()
      const found = typeof address === "object" && address !== null ? address.port : port
      probe.close(() => resume(Effect.succeedSome(found)))
    })
  })
