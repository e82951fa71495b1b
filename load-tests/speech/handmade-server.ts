/**
 * The server that one writes by hand in an hour: espeak-ng and ffmpeg, spawned anew for every request, one piped
 * into the other. No marks, no chunks, no SSML of its own, no limits.
 */
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const [espeakPath = "espeak-ng"] = process.argv.slice(2)
const outputs: Readonly<Record<string, ReadonlyArray<string>>> = {
  pcm_24000: ["-f", "s16le"],
  mp3_24000_64: ["-c:a", "libmp3lame", "-b:a", "64k", "-f", "mp3"]
}

const server = createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    const order = JSON.parse(Buffer.concat(parts).toString("utf8")) as { input: string; output_format: string }
    const espeak = spawn(espeakPath, ["--stdout", "--", order.input], { stdio: ["ignore", "pipe", "ignore"] })
    const output = outputs[order.output_format] ?? []
    const ffmpeg = spawn(
      "ffmpeg",
      ["-loglevel", "error", "-i", "pipe:0", "-ar", "24000", "-ac", "1", ...output, "-flush_packets", "1", "pipe:1"],
      { stdio: ["pipe", "pipe", "ignore"] }
    )
    espeak.stdout.pipe(ffmpeg.stdin)
    ffmpeg.stdin.on("error", () => undefined)
    response.writeHead(200)
    ffmpeg.stdout.pipe(response)
    response.on("close", () => {
      espeak.kill()
      ffmpeg.kill()
    })
  })
})
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }))
