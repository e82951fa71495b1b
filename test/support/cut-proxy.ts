/**
 * Stands between one process of a role and the broker, and cuts the line at a chosen message of the role: the broker
 * has everything that was sent before, the role receives nothing any more, and new connections fail. To the broker this
 * looks like a process killed at that very point, even between two messages that were sent in one go.
 */
import { connect, createServer, type AddressInfo, type Socket } from "node:net"

/** The `nth` message that the role publishes on a subject that fits; the broker has it or it has not. */
export interface Cut {
  readonly subject: RegExp
  readonly nth: number
  readonly side: "before" | "after"
}

export interface CutProxy {
  readonly url: string
  /** The line is cut when that message comes; at most one cut is waited for, and it counts from now on. */
  readonly arm: (cut: Cut) => void
  /** Cuts at once. */
  readonly cutNow: () => void
  readonly isCut: () => boolean
  /** Resolves when the line is cut. */
  readonly whenCut: Promise<void>
}

const crlf = "\r\n"

/** Whole operations of a client, one by one; a payload counts to its operation. */
const operations = () => {
  let rest: Buffer = Buffer.alloc(0)
  return function* (chunk: Buffer): Generator<{ readonly bytes: Buffer; readonly subject: string | undefined }> {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (true) {
      const end = rest.indexOf(crlf)
      if (end === -1) return
      const [verb = "", subject, ...args] = rest.toString("latin1", 0, end).split(" ")
      const isMessage = verb === "PUB" || verb === "HPUB"
      const size = end + crlf.length + (isMessage ? Number(args.at(-1)) + crlf.length : 0)
      if (rest.length < size) return
      yield { bytes: rest.subarray(0, size), subject: isMessage ? subject : undefined }
      rest = rest.subarray(size)
    }
  }
}

export const startCutProxy = async (brokerPort: number): Promise<CutProxy> => {
  const lines = new Set<{ readonly role: Socket; readonly broker: Socket }>()
  const { promise: whenCut, resolve: told } = Promise.withResolvers<void>()
  let armed: Cut | undefined
  let seen = 0
  let isCut = false

  const cutNow = () => {
    if (isCut) return
    isCut = true
    server.close()
    for (const { role, broker } of lines) {
      role.destroy()
      // Sent bytes are delivered, as by a dead process's kernel.
      broker.end()
    }
    told()
  }
  const isHere = (subject: string) => {
    if (armed === undefined || !armed.subject.test(subject)) return false
    seen += 1
    return seen === armed.nth
  }
  const server = createServer((role) => {
    const broker = connect(brokerPort, "127.0.0.1")
    const line = { role, broker }
    lines.add(line)
    const read = operations()
    role.on("data", (chunk) => {
      for (const { bytes, subject } of read(chunk)) {
        if (isCut) return
        const here = subject !== undefined && isHere(subject)
        if (!here || armed?.side === "after") broker.write(Buffer.from(bytes))
        if (here) return cutNow()
      }
    })
    broker.on("data", (chunk) => {
      if (!isCut) role.write(chunk)
    })
    const over = () => {
      lines.delete(line)
      role.destroy()
      broker.end()
    }
    for (const socket of [role, broker]) socket.on("error", over).on("close", over)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `nats://127.0.0.1:${port}`,
    arm: (cut) => {
      armed = cut
      seen = 0
    },
    cutNow,
    isCut: () => isCut,
    whenCut
  }
}
