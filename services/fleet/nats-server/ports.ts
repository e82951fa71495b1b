/** Ports of this machine's loopback address: whether one is free, and whether a nats-server answers on one. */
import { connect, createServer } from "node:net"
import { Effect } from "effect"

/** `wanted` when it is free, else the next free one above; 0 takes any. */
export const freePort = (wanted: number): Effect.Effect<number> =>
  tryPort(wanted).pipe(Effect.flatMap((port) => (port === undefined ? freePort(wanted + 1) : Effect.succeed(port))))

const tryPort = (port: number) =>
  Effect.callback<number | undefined>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(undefined)))
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address()
      const found = typeof address === "object" && address !== null ? address.port : port
      probe.close(() => resume(Effect.succeed(found)))
    })
  })

/** True when the server says its INFO line, which it does once its streams are recovered. */
export const answers = (port: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const end = (is: boolean) => {
      socket.destroy()
      resume(Effect.succeed(is))
    }
    socket.setTimeout(1_000, () => end(false))
    socket.once("error", () => end(false))
    socket.once("data", (data) => end(data.toString("latin1").startsWith("INFO ")))
    return Effect.sync(() => socket.destroy())
  })
