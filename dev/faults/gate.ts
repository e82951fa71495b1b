/** A gate before a service of the outside world: what comes is passed on, or answered with a status, or never. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

type Manner = "well" | "hangs" | number

export interface Gate {
  readonly url: string
  /** From now on, for what comes below a path. */
  readonly answer: (manner: Manner, path?: string) => void
  readonly close: () => void
}

/** Without a service behind it, it answers 204. */
export const startGate = async (behind?: string): Promise<Gate> => {
  const manners = new Map<string, Manner>()
  const mannerOf = (url = "/"): Manner => {
    const [, manner = "well"] = [...manners].find(([path]) => url.startsWith(path)) ?? []
    return manner
  }
  const server = createServer((asked, answer) => {
    const manner = mannerOf(asked.url)
    if (manner === "hangs") return void asked.resume()
    if (manner === "well" && behind !== undefined) return passOn(behind, asked, answer)
    asked.resume().on("end", () => answer.writeHead(manner === "well" ? 204 : manner).end())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (manner, path = "/") => {
      manners.set(path, manner)
      // Those that hang end with it.
      if (manner === "well") server.closeAllConnections()
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const passOn = (behind: string, asked: IncomingMessage, answer: ServerResponse) => {
  const passed = request(new URL(asked.url ?? "/", behind), { method: asked.method ?? "GET", headers: asked.headers })
  passed.on("response", (found) => {
    answer.writeHead(found.statusCode ?? 502, found.headers)
    found.pipe(answer)
  })
  passed.on("error", () => answer.destroy())
  asked.pipe(passed)
}
