/**
 * The live server that one writes by hand in an hour: a WebSocket of one conversation, text cut at the ends of sentences,
 * the same engine in the same process, PCM as it comes. No marks, no formats, no limits, no takeover.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { WebSocketServer } from "@effect/platform-node/NodeWS"
import { type BareEngine, withBareEngine } from "./bare.ts"

const sentence = /^[\s\S]*?[.!?]\s+(?=\S)/u

interface Said {
  readonly type: "text" | "end" | "cancel"
  readonly text?: string
}

const serve = (server: WebSocketServer, engine: BareEngine) => {
  server.on("connection", (socket) => {
    let pending = ""
    let speaking = Promise.resolve()
    let isCancelled = false
    const speak = (text: string) => {
      speaking = speaking.then(async () => {
        if (isCancelled) return
        const { pcm } = await engine(text)
        if (!isCancelled)
          socket.send(JSON.stringify({ type: "audio", audio: Buffer.from(pcm.buffer).toString("base64") }))
      })
    }
    socket.on("message", (data: Buffer) => {
      const { text = "", type } = JSON.parse(data.toString()) as Said
      pending += text
      for (let found = sentence.exec(pending); found !== null; found = sentence.exec(pending)) {
        speak(found[0])
        pending = pending.slice(found[0].length)
      }
      if (type === "cancel") {
        isCancelled = true
        socket.send(JSON.stringify({ type: "cancelled" }))
      }
      if (type !== "end") return
      if (pending.trim() !== "") speak(pending)
      void speaking.then(() => socket.send(JSON.stringify({ type: "done" })))
    })
  })
}

await withBareEngine(async (engine) => {
  // The first utterance of an engine loads its voice.
  await engine("Ready.")
  const http = createServer()
  serve(new WebSocketServer({ server: http }), engine)
  http.listen(0, "127.0.0.1", () => process.send?.({ port: (http.address() as AddressInfo).port }))
  await new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()))
  process.exit(0)
})
