/** A finished item with an open pull request, and the order to rework it because it fell behind its base. */
import { inHand, type ItemAtWork } from "./item-at-work.ts"

export const opened = { pullRequestNumber: 7, pullRequestUrl: "https://git.example/garden/pulls/7", mergedSha: null }
export const route = { _tag: "RouteToConflictRework", pullRequestNumber: 7, headSha: "abc1234" } as const

export const withPullRequest = (settings: Parameters<typeof inHand>[1] = {}): ItemAtWork => {
  const item = inHand("upstream", settings)
  item.reports("pull-request-opened", opened)
  item.reports("push-ended", { outcome: "pushed", reason: null })
  return item
}
