/**
 * The pull requests of the local forge, in memory. Each read asks git whether one can be merged. A head has one open
 * pull request: opening it again returns the same one.
 */
import { Effect, Semaphore } from "effect"
import { canMerge, headOf, mergeBranch } from "./merges.ts"
import type { NewPullRequest, PullRequest } from "./pull-request.ts"

// It is for trying things; beyond this the oldest closed one is dropped.
const kept = 10_000
const mergeTriesMax = 20

type Stored = Omit<PullRequest, "mergeable" | "headSha"> & { readonly repository: string; readonly headSha: string }

export type Opened = PullRequest | "no such branch"

export const makePullRequests = (folder: string, urlOf: (repository: string, number: number) => string) => {
  const all = new Map<string, Stored>()
  const turn = Semaphore.makeUnsafe(1)
  let last = 0
  const pathOf = (repository: string) => `${folder}/${repository}.git`
  const keyOf = (repository: string, number: number) => `${repository}#${number}`

  const shown = Effect.fnUntraced(function* ({ repository, ...stored }: Stored) {
    if (stored.state !== "open") return { ...stored, mergeable: stored.state === "merged" } satisfies PullRequest
    const path = pathOf(repository)
    const headSha = (yield* headOf(path, stored.head)) ?? stored.headSha
    return { ...stored, headSha, mergeable: yield* canMerge(path, stored.base, stored.head) } satisfies PullRequest
  })
  const store = (request: Stored) => {
    all.set(keyOf(request.repository, request.number), request)
    if (all.size <= kept) return
    const oldest = [...all].find(([, { state }]) => state !== "open")
    if (oldest !== undefined) all.delete(oldest[0])
  }
  const merge = Effect.fnUntraced(function* (request: Stored) {
    const path = pathOf(request.repository)
    for (let tries = 0; tries < mergeTriesMax; tries += 1) {
      const mergedSha = yield* mergeBranch(path, request.base, request.head, request.title)
      if (mergedSha !== undefined) {
        store({ ...request, state: "merged", mergedSha })
        return
      }
      if (!(yield* canMerge(path, request.base, request.head))) return
    }
  })
  const open = Effect.fnUntraced(function* (repository: string, asked: NewPullRequest) {
    const path = pathOf(repository)
    const [headSha, baseSha] = [yield* headOf(path, asked.head), yield* headOf(path, asked.base)]
    if (headSha === undefined || baseSha === undefined) return "no such branch" as const
    const { autoMerge, ...rest } = asked
    const known = [...all.values()].find(
      (one) => one.repository === repository && one.head === asked.head && one.state === "open"
    )
    if (known === undefined) last += 1
    const number = known?.number ?? last
    const url = urlOf(repository, number)
    const request: Stored = { ...rest, repository, number, url, headSha, state: "open", mergedSha: null }
    store(request)
    if (autoMerge) yield* merge(request)
    return yield* shown(all.get(keyOf(repository, number)) ?? request)
  }, turn.withPermits(1))
  const find = Effect.fnUntraced(function* (repository: string, number: number) {
    const stored = all.get(keyOf(repository, number))
    return stored === undefined ? undefined : yield* shown(stored)
  })
  const list = (repository: string) =>
    Effect.forEach(
      [...all.values()].filter((one) => one.repository === repository),
      shown,
      { concurrency: 4 }
    )
  const mergeOne = Effect.fnUntraced(function* (repository: string, number: number) {
    const stored = all.get(keyOf(repository, number))
    if (stored?.state === "open") yield* merge(stored)
    return yield* find(repository, number)
  }, turn.withPermits(1))
  const close = (repository: string, number: number) =>
    Effect.suspend(() => {
      const stored = all.get(keyOf(repository, number))
      if (stored?.state === "open") store({ ...stored, state: "closed" })
      return find(repository, number)
    })
  return { open, find, list, merge: mergeOne, close }
}
