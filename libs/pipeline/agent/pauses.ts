/**
 * New work stopped by an operator, for a time or until somebody resumes it. Runs in hand go on. A pause may be put in
 * another one's place; one whose time is over ends first, be it that nobody has looked since.
 */
import { type Deciders, decided, type Evolvers, nothing, refused } from "./decisions.ts"
import { isExpired, standingOf } from "./standing.ts"

const expired = { _tag: "Resumed", resumedBy: "expiry", reason: "the time of the pause is over" } as const

export const pauseDeciders = {
  Pause: (agent, { reason, pausedBy, expiresAtMs }, { atMs }) => {
    if (expiresAtMs !== null && expiresAtMs <= atMs) {
      return refused(standingOf(agent), "the pause would be over before it began")
    }
    const { pause } = agent
    const paused = { _tag: "Paused", reason, pausedBy, expiresAtMs } as const
    if (pause === null) return decided(paused)
    if (isExpired(pause, atMs)) return decided(expired, paused)
    const isSame = pause.reason === reason && pause.pausedBy === pausedBy && pause.expiresAtMs === expiresAtMs
    return isSame ? nothing : decided(paused)
  },
  Resume: ({ pause }, { resumedBy, reason }) =>
    pause === null ? nothing : decided({ _tag: "Resumed", resumedBy, reason }),
  ExpirePause: ({ pause }, _command, { atMs }) =>
    pause !== null && isExpired(pause, atMs) ? decided(expired) : nothing
} satisfies Partial<Deciders>

export const pauseEvolvers = {
  Paused: (_agent, { _tag, ...pause }, { atMs }) => ({ pause: { ...pause, pausedAtMs: atMs } }),
  Resumed: () => ({ pause: null })
} satisfies Partial<Evolvers>
