/** A port of this machine that nobody listens on, for what keeps it when it is started again. */
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
