/**
 * Ends a child when this process is gone, even by SIGKILL: a shell waits at a pipe of which only this process
 * holds the other end, and the kernel closes that end whatever happened. It asks with SIGTERM and does no more;
 * a server that does not listen is found by its pid file at the next start.
 */
import { spawn } from "node:child_process"

const script = 'read -r nothing; kill -TERM "$1" 2>/dev/null'

/** Watches over the process `pid` until the returned function is called. */
export const guard = (pid: number): (() => void) => {
  // A session of its own, so that Ctrl-C and a closed terminal reach us and not the guardian.
  const shell = spawn("/bin/sh", ["-c", script, "guardian", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"]
  })
  shell.on("error", ignore)
  shell.stdin.on("error", ignore)
  shell.unref()
  return () => void shell.kill("SIGKILL")
}

// Without a shell there is no guardian, and the pid file alone remains.
const ignore = () => {}
