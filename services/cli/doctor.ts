/** Finds what a cluster lacks before the fleet is applied to it. The checks are in deploy/doctor. */
import { Effect } from "effect"
import { examine } from "#deploy/doctor"
import { fileOf } from "./files.ts"
import { CommandRefused, misused } from "./console.ts"

interface Examined {
  readonly kubernetes: boolean
  /** A path from the user's own folder. */
  readonly overlay: string | undefined
  readonly context: string | undefined
  readonly json: boolean
}

export const examineCluster = Effect.fnUntraced(function* ({ kubernetes, overlay, context, json }: Examined) {
  if (!kubernetes) return yield* misused("doctor looks at a cluster: say --kubernetes")
  // The default lies beside the launcher, which changes to its own folder.
  const folder = overlay === undefined ? "deploy/k8s/overlays/prod" : yield* fileOf(overlay)
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const code = yield* examine({ overlay: folder, context, isJson: json, print })
  if (code !== 0) return yield* new CommandRefused({ reason: "the cluster is not ready for the fleet" })
})
