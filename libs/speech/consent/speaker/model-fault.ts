/** Why a speaker model could not be tried, for whoever configured it. Pure. */
import type { ContainedRun } from "#audio"

const sayable = 600

/** Null when it could. */
export const modelFault = ({ ending, exitCode, said }: ContainedRun): string | null => {
  if (ending === "ended" && exitCode === 0) return null
  if (/Cannot find (?:module|package) 'sherpa-onnx/u.test(said)) {
    return "it needs a package that is not installed: npm install sherpa-onnx-node@1.13.8"
  }
  if (ending === "wall_time" || ending === "cpu_time") return "opening model.onnx takes more than a minute"
  const words = said.replaceAll(/\s+/gu, " ").trim().slice(0, sayable)
  return `model.onnx is no speaker embedding model with sherpa-onnx's metadata, or is broken: ${words}`.replace(
    /: $/u,
    ""
  )
}
