/** A port of this machine that nobody listens on: a container that is started again keeps the one it was given. */
import { createServer, type AddressInfo } from "node:net"

export const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer()
    probe.once("error", reject)
    probe.listen(0, "0.0.0.0", () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
