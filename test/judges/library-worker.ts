/** A library at work: its script runs once, takes an order a line, and answers with a line. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { join } from "node:path"
import type { JudgedClient } from "../../services/model-gateway/judged-clients.ts"
import type { Installed } from "./client-packages.ts"
import type { NativePay } from "./judged-gateway.ts"

export interface Order {
  readonly baseURL: string
  readonly apiKey: string
  readonly dialect: string
  readonly model: string
  readonly prompt: string
  readonly pays?: NativePay | undefined
  readonly thinks?: boolean
  readonly leaves?: boolean
}

/** Of an error that the client raised. */
export interface Fault {
  readonly name: string
  readonly status: number | null
  readonly code: string | null
  readonly message: string
}

export interface Told {
  readonly texts?: ReadonlyArray<string | null>
  readonly fault?: Fault
}

export interface Worker {
  readonly ask: (order: Order | { readonly refund: string; readonly pays: NativePay }) => Promise<Told>
  readonly end: () => void
}

const mark = "told: "

export const startWorker = ({ name, kind }: JudgedClient, { folder }: Installed): Worker => {
  const [program, script] =
    kind === "library of Python" ? [join(folder, "bin/python"), `${name}.py`] : [process.execPath, `${name}.mjs`]
  const child = spawn(program, [join(folder, script)], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] })
  const waiting: Array<PromiseWithResolvers<Told>> = []
  const said: Array<string> = []
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith(mark)) waiting.shift()?.resolve(JSON.parse(line.slice(mark.length)) as Told)
    else said.push(line)
  })
  child.stderr.on("data", (data: Buffer) => void said.push(data.toString()))
  child.once("exit", (code) => {
    for (const each of waiting) each.reject(new Error(`${script} ended with ${code}: ${said.join("\n").slice(-2_000)}`))
  })
  return {
    ask: (order) => {
      const answer = Promise.withResolvers<Told>()
      waiting.push(answer)
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return answer.promise
    },
    end: () => void child.kill()
  }
}
