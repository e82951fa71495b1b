/**
 * A thread with an engine that follows its text: it crashes, hangs, speaks slowly, or makes so many callbacks, each of
 * which takes so many milliseconds: "20 callbacks of 5".
 */
import { serveJobs } from "../../../../libs/speech/engine/worker/serve.ts"

const callbacksOf = (text: string): readonly [callbacks: number, ms: number] => {
  const [, callbacks, ms] = /^(\d+) callbacks of (\d+)$/u.exec(text) ?? []
  return callbacks === undefined || ms === undefined ? [1, 0] : [Number(callbacks), Number(ms)]
}

const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

serveJobs(() => ({
  hz: 24_000,
  firstVoice: "any",
  speak: (job, sink) => {
    const text = job.pieces[0]?.text ?? ""
    if (text === "crash") throw new Error("the engine crashed")
    if (text === "exit") process.exit(3)
    if (text === "hang") block(5000)
    if (text === "endless") {
      let isWanted = true
      while (isWanted) isWanted = sink.audio(new Int16Array(24_000), 0)
      return null
    }
    const [callbacks, ms] = text === "slow" ? [5000, 2] : callbacksOf(text)
    for (let at = 0; at < callbacks; at++) {
      if (ms > 0) block(ms)
      if (!sink.audio(new Int16Array(1200).fill(at + 1), 0)) return null
    }
    return null
  }
}))
