# The command line as one bundle, made again after a change: a command or a role starts in less time, and in less memory,
# than from its sources, and images run the same. Who wants the sources runs `node services/cli/main.ts`.

ensure_program() {
  local current=$root/.starling/cache/program/current
  if [[ ! -e $current || -n $(find libs services dev deploy package.json package-lock.json -newer "$current" -print -quit) ]]; then
    # Where nothing can be written, or esbuild finds a fault, the sources run, and tell the fault themselves.
    node dev/program/build.ts || {
      program=$root/services/cli/main.ts
      return
    }
  fi
  program=$(<"$current")
}
