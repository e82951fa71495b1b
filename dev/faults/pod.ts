/**
 * A further process of the fleet, at a port of its own that it keeps over restarts, with a line to the broker that can
 * be cut. Its configuration, environment and clock are those of the newest start.
 */
import { spawn, type ChildProcess } from "node:child_process"
import { writeFileSync } from "node:fs"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { join } from "node:path"
import { until, startWithinMs } from "#dev/fixtures/eventually"
import { freePort } from "#dev/fixtures/free-port"
import { program, programEnvironment, type RunningFleet } from "#dev/fixtures/starling"

export interface Pod {
  readonly url: string
  readonly pid: () => number
  /** Ends it and starts it anew, so: it need not become ready. */
  readonly restart: (changes?: PodChanges) => Promise<void>
  readonly line: Line
  readonly stop: () => Promise<void>
}

export interface PodChanges {
  readonly configuration?: Readonly<Record<string, unknown>>
  readonly environment?: Readonly<Record<string, string>>
  /** Its clock, against that of the machine. */
  readonly aheadSeconds?: number
}

/** A process that is to come: its place is known before the fleet starts. */
export const podPlace = async () => {
  const port = await freePort()
  return { port, url: `http://127.0.0.1:${port}` }
}

interface PodOrder extends PodChanges {
  readonly name: string
  readonly roles: ReadonlyArray<string>
  readonly port: number
  readonly folder: string
  readonly fleet: RunningFleet
}

export const startPod = async (order: PodOrder): Promise<Pod> => {
  const { name, roles, port, folder, fleet } = order
  const line = await startLine(new URL(fleet.ready.nats))
  const config = join(folder, `${name}.json`)
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  const stop = () =>
    new Promise<void>((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once("exit", () => resolve())
      child.kill("SIGKILL")
    })
  const restart = async ({ configuration, environment, aheadSeconds = 0 }: PodChanges = {}) => {
    await stop()
    const sections = { ...order.configuration, ...configuration, Bus: { ...fleet.roleBus, Url: line.url } }
    writeFileSync(config, JSON.stringify({ Telemetry: { Port: port, LogLevel: "Warn" }, ...sections }))
    child = spawn(process.execPath, [...clock(aheadSeconds), program, "role", ...roles], {
      stdio: ["ignore", "ignore", process.env["FAULTS_LOG"] === undefined ? "ignore" : "inherit"],
      env: { ...process.env, ...programEnvironment, ...order.environment, ...environment, STARLING_CONFIG: config }
    })
    await until(async () => (await fetch(`${url}/livez`).catch(() => undefined)) !== undefined, {
      withinMs: startWithinMs
    })
  }
  await restart()
  return {
    url,
    pid: () => child?.pid ?? 0,
    restart,
    line,
    stop: async () => {
      await stop()
      line.close()
    }
  }
}

/** As a machine whose time service is wrong. */
const clock = (aheadSeconds: number) => {
  if (aheadSeconds === 0) return []
  const code = `const now = Date.now; Date.now = () => now() + ${aheadSeconds * 1_000}`
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`]
}

interface Line {
  readonly url: string
  readonly cut: () => void
  readonly mend: () => void
  readonly close: () => void
}

const startLine = async ({ hostname, port, protocol }: URL): Promise<Line> => {
  const open = new Set<Socket>()
  let isCut = false
  const cut = () => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(Number(port), hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near]
    ] as const) {
      open.add(socket)
      socket.pipe(other)
      socket.on("error", () => other.destroy()).on("close", () => (open.delete(socket), other.destroy()))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () => {
    server.close()
    cut()
  }
  const url = `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, cut, mend: () => void (isCut = false), close }
}
