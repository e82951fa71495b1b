/** A free loopback port for a child process. */
import { createServer } from "node:net"
import { Effect, Option } from "effect"

// More instances than a person starts by hand; beyond them something else is wrong.
const triesMax = 100

/**
 * A loopback port for a child that must be given one: `wanted` if it is free, else the next free one above; 0 picks
 * any. None when a hundred are in use.
 */
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
