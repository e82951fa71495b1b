/**
 * A program that speaks, as a child of an engine's thread: a process group of its own with system limits, the
 * environment that it is allowed to see, and its standard error as bounded lines. The entire group is killed when the
 * program breaks the protocol or is closed, and by a guardian when the thread is gone.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { kill } from "node:process"
import type { Readable, Writable } from "node:stream"
import { setTimeout } from "node:timers"
import { encoded, type FromProgram, messageReader, type ToProgram } from "./protocol.ts"

export interface ProgramOptions {
  readonly command: string
  readonly arguments: ReadonlyArray<string>
  readonly folder: string
  /** Its entire environment, beside PATH and LANG. */
  readonly environment: Readonly<Record<string, string>>
  readonly memoryMegabytesMax: number
}

export interface ProgramListener {
  readonly onMessage: (message: FromProgram) => void
  /** A line of its standard error. */
  readonly onLog: (line: string) => void
  /** It has ended, or was killed for what it wrote; called once. */
  readonly onExit: (reason: string) => void
}

export interface Program {
  readonly send: (message: ToProgram) => void
  /** Ends it for that reason; harmless if it has ended. */
  readonly kill: (reason: string) => void
  /** Gives it a moment to end by itself. */
  readonly close: () => void
}

// `sh` sets the limits and becomes the program; a limit that the system does not support is left out.
const limited = 'for limit in "-v $1" "-c 0"; do ulimit $limit 2>/dev/null || :; done; shift; exec "$@"'
// Waits at a pipe whose other end only this thread holds, which the kernel closes in every case.
const guardian = 'read -r nothing; kill -KILL -- "-$1" 2>/dev/null'
const usualPath = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
// The end of its input announces the end; a program that does not react is killed.
const closePatienceMs = 500

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export const startProgram = (options: ProgramOptions, listener: ProgramListener): Program => {
  const { command, folder, environment, memoryMegabytesMax } = options
  const parameters = ["-c", limited, "sh", `${memoryMegabytesMax * 1_024}`, command, ...options.arguments]
  const child: Child = spawn("/bin/sh", parameters, {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    windowsHide: true,
    cwd: folder,
    env: { PATH: usualPath, LANG: "C.UTF-8", ...environment }
  })
  const release = child.pid === undefined ? () => {} : guard(child.pid)
  const logged = boundedLines(listener.onLog)
  let reason: string | undefined
  let hasEnded = false
  const exited = (text: string) => {
    if (hasEnded) return
    hasEnded = true
    release()
    listener.onExit(reason ?? withLastLine(text, logged.last()))
  }
  const end = (text: string) => {
    if (hasEnded) return
    reason ??= text
    killGroup(child)
  }
  const read = messageReader(listener.onMessage)
  child.stdout.on("data", (bytes: Buffer) => {
    if (reason !== undefined) return
    try {
      read(bytes)
    } catch (error) {
      end(error instanceof Error ? error.message : String(error))
    }
  })
  child.stderr.on("data", logged.take)
  // The exit reports that a program is gone.
  child.stdin.on("error", () => {})
  child.on("error", (error) => exited(error.message))
  // What it started and left behind is killed with it.
  child.on("exit", () => killGroup(child))
  child.on("close", (code, signal) => {
    logged.flush()
    exited(exitReason(code, signal))
  })
  return {
    send: (message) => void child.stdin.write(encoded(message)),
    kill: end,
    close: () => {
      reason ??= "it was closed"
      child.stdin.end()
      setTimeout(() => hasEnded || killGroup(child), closePatienceMs).unref()
    }
  }
}

const withLastLine = (text: string, line: string) => (line === "" ? text : `${text}; its last line: ${line}`)

// The exit codes of sh for a program that is missing or cannot be executed.
const exitReason = (code: number | null, signal: NodeJS.Signals | null) => {
  if (code === 127) return "there is no such program"
  if (code === 126) return "the program cannot be run"
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`
}

const killGroup = ({ pid }: Child) => {
  if (pid === undefined) return
  try {
    kill(-pid, "SIGKILL")
  } catch {
    // The entire group has ended.
  }
}

const guard = (pid: number): (() => void) => {
  const shell = spawn("/bin/sh", ["-c", guardian, "guardian", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })
  shell.on("error", () => {})
  shell.stdin.on("error", () => {})
  return () => void shell.kill("SIGKILL")
}

const lineCharactersMax = 500
// Beyond this many lines a second, a program's output is counted, not read.
const linesPerSecond = 20

/** Cuts a stream of text into lines: long ones are shortened, excess ones are counted. */
const boundedLines = (onLine: (line: string) => void) => {
  let [partial, last] = ["", ""]
  let [second, count, dropped] = [0, 0, 0]
  const writeLine = (line: string) => {
    const text = line.trimEnd().slice(0, lineCharactersMax)
    if (text === "") return
    last = text
    const now = Math.floor(performance.now() / 1_000)
    if (now !== second) {
      if (dropped > 0) onLine(`${dropped} lines were left out`)
      ;[second, count, dropped] = [now, 0, 0]
    }
    count += 1
    if (count <= linesPerSecond) onLine(text)
    else dropped += 1
  }
  const take = (bytes: Buffer) => {
    const lines = (partial + bytes.toString("utf8")).split("\n")
    partial = (lines.pop() ?? "").slice(0, lineCharactersMax)
    for (const line of lines) writeLine(line)
  }
  const flush = () => {
    writeLine(partial)
    partial = ""
  }
  return { take, flush, last: () => last }
}
