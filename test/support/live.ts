/** A client of live connections: sends messages, and keeps all that comes back. */
import { WebSocket } from "@effect/platform-node/NodeWS"
import { type LiveClientMessage, livePath, liveProtocol, type LiveServerMessage } from "#speech/api"

export interface LiveClient<Sent = LiveClientMessage, Got = LiveServerMessage> {
  readonly socket: WebSocket
  readonly send: (...messages: ReadonlyArray<Sent>) => void
  readonly got: ReadonlyArray<{ readonly atMs: number; readonly message: Got }>
  /** Waits for a message; fails when the socket closes before. */
  readonly next: (is: (message: Got) => boolean) => Promise<Got>
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

export interface LiveOptions {
  readonly url: string
  readonly token?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: ReadonlyArray<string>
}

/** Opens a connection; fails with the status of a refused handshake. */
export const connectLive = <Sent = LiveClientMessage, Got = LiveServerMessage>({
  url,
  token,
  path = livePath,
  headers = {},
  protocols = [liveProtocol]
}: LiveOptions) =>
  new Promise<LiveClient<Sent, Got>>((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/u, "ws")}${path}`, [...protocols], {
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers }
    })
    const got: Array<{ readonly atMs: number; readonly message: Got }> = []
    const waiting = new Set<() => void>()
    const look = () => {
      for (const check of waiting) check()
    }
    const closed = new Promise<{ readonly code: number; readonly reason: string }>((end) =>
      socket.once("close", (code, reason) => {
        end({ code, reason: reason.toString() })
        look()
      })
    )
    socket.on("message", (data: Buffer) => {
      got.push({ atMs: performance.now(), message: JSON.parse(data.toString()) as Got })
      look()
    })
    socket.once("unexpected-response", (_, response) => {
      reject(new Error(`refused with ${response.statusCode}`))
      socket.terminate()
    })
    socket.on("error", reject)
    const next: LiveClient<Sent, Got>["next"] = (is) =>
      new Promise((found, failed) => {
        const check = () => {
          const one = got.find(({ message }) => is(message))
          if (one === undefined && socket.readyState !== WebSocket.CLOSED) return
          waiting.delete(check)
          if (one === undefined) failed(new Error(`it closed after ${JSON.stringify(got.at(-1)).slice(0, 500)}`))
          else found(one.message)
        }
        waiting.add(check)
        check()
      })
    socket.once("open", () =>
      resolve({
        socket,
        got,
        closed,
        next,
        send: (...messages) => {
          for (const message of messages) socket.send(JSON.stringify(message))
        }
      })
    )
  })

/** What a context brought: its audio as one, its marks, and its last message. */
export const heardIn = ({ got }: LiveClient, contextId: string) => {
  const own = got
    .map(({ message }) => message)
    .filter((message) => "context_id" in message && message.context_id === contextId)
  const audio = own.flatMap((message) => (message.type === "audio" ? [Buffer.from(message.audio, "base64")] : []))
  const marks = own.flatMap((message) => (message.type === "marks" ? message.speech_marks : []))
  return { audio: Buffer.concat(audio), marks, last: own.at(-1) }
}
