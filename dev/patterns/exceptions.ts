/** Patterns that no check can judge, or that may take long for a long text: each with what bounds it. */
import type { Exceptions } from "./judge.ts"

export const exceptions: Exceptions = {
  // The settings refuse what is longer than 500 characters, refers back, or repeats a group that repeats within.
  'libs/base/settings/platform.ts new RegExp(source, "gu")': "compiled, and tried on an empty text alone",
  'libs/runtime/Redactor.ts new RegExp(Pattern, `gu${Flags ?? ""}`)': "an operator's own, as the settings take it",
  'libs/runtime/Redactor.ts new RegExp(wellKnownSecrets.map(([, pattern]) => pattern.source).join("|"), "iu")':
    "one of several shapes, of which each is judged where it is written",
  'libs/egress/sanitise.ts new RegExp(`(?<![A-Za-z0-9])${escaped(name)}(?![A-Za-z0-9])`, "giu")':
    "a name, which repeats nothing, in at most 4,096 characters",
  "dev/patterns/judge.ts new RegExp(source, flags)":
    "the pattern that is judged, on texts of at most 64,000 characters",
  'libs/payments/chains/evm/keystore.ts new RegExp(`^(?:0x)?(?:[0-9a-fA-F]{2}){${minimum},${maximum}}$`, "u")':
    "pairs of digits from the start on, as many as a constant says"
}
