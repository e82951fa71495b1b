/**
 * Completion scripts. Where the name of an endpoint belongs, the script asks the program with `--names`, which asks the
 * running fleet.
 */
import * as Completions from "effect/cli/Completions"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { endpointMark } from "./flags.ts"
import { writeOut } from "./screen.ts"

interface Asking {
  /** What the generated script has for the mark, and what takes its place. */
  readonly instead: readonly [string, string]
  readonly more: string
}

/** None for PowerShell. */
const asking: Readonly<Record<Completions.Shell, Asking>> = {
  bash: {
    instead: [`'${endpointMark}'`, "$(_starling--names endpoint)"],
    more: `_starling--names() { "\${words[0]}" --names "$1" 2>/dev/null; }`
  },
  zsh: {
    instead: [`(${endpointMark})`, "{_starling_names endpoint}"],
    more: `_starling_names() { compadd -- \${(f)"$("$_starling_program" --names "$1" 2>/dev/null)"} }`
  },
  fish: {
    instead: [`'${endpointMark}'`, "'(_starling_names endpoint)'"],
    more: "function _starling_names; env (commandline -poc)[1] --names $argv 2>/dev/null; end"
  },
  powershell: { instead: [`'${endpointMark}'`, ""], more: "" }
}

/** Pure. */
export const askingScript = (shell: Completions.Shell, script: string): string => {
  const { instead, more } = asking[shell]
  // In zsh the words of a subcommand hide the first one.
  const whole = shell === "zsh" ? script.replace("_starling() {\n", "$&  local _starling_program=$words[1]\n") : script
  const lines = whole.replaceAll(instead[0], () => instead[1]).split("\n")
  // The first line of zsh's says what the script completes.
  return [lines[0], ...(more === "" ? [] : [more]), ...lines.slice(1)].join("\n")
}

export const completions = GlobalFlag.Action({
  flag: GlobalFlag.Completions.flag,
  run: (shell, { command }) =>
    Effect.sync(() => {
      if (Option.isNone(shell)) return
      const script = Completions.generate(command.name, shell.value, Completions.fromCommand(command))
      writeOut(`${askingScript(shell.value, script)}\n`)
    })
})
