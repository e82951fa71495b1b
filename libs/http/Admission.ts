/**
 * The concurrency limit: a bound on concurrent requests in the entire process (503 beyond it), and one per workspace
 * (429). A request keeps its slot until the last byte of the answer is out, or the caller is gone.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { acquireLightly } from "#runtime"
import { concurrencyLimitReached, serviceUnavailable, type WireError } from "./WireError.ts"

interface AdmissionOptions {
  readonly runningMax: number
  readonly perWorkspaceMax: number | ((workspace: string) => number)
}

export class Admission extends Context.Service<
  Admission,
  {
    /** Takes a slot until the scope is closed; in a handler, that is the call's scope. */
    readonly enter: (workspace: string) => Effect.Effect<void, WireError, Scope.Scope>
    readonly running: Effect.Effect<number>
  }
>()("starling/http/Admission") {
  static readonly layer = ({ runningMax, perWorkspaceMax }: AdmissionOptions) =>
    Layer.sync(Admission, () => {
      const byWorkspace = new Map<string, number>()
      let running = 0
      const limitOf = typeof perWorkspaceMax === "number" ? () => perWorkspaceMax : perWorkspaceMax

      const leave = (workspace: string) =>
        Effect.sync(() => {
          const left = (byWorkspace.get(workspace) ?? 1) - 1
          if (left === 0) byWorkspace.delete(workspace)
          else byWorkspace.set(workspace, left)
          running -= 1
        })
      const take = (workspace: string) =>
        Effect.suspend(() => {
          if (running >= runningMax) return Effect.fail(serviceUnavailable(1, "too much is running, try again"))
          const ofWorkspace = byWorkspace.get(workspace) ?? 0
          const limit = limitOf(workspace)
          if (ofWorkspace >= limit) return Effect.fail(concurrencyLimitReached(limit))
          byWorkspace.set(workspace, ofWorkspace + 1)
          running += 1
          return Effect.void
        })
      return Admission.of({
        enter: (workspace) => acquireLightly(take(workspace), () => leave(workspace)),
        running: Effect.sync(() => running)
      })
    })
}
