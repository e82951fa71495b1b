/** An alert, series with which it fires, and with which it stays silent. A sample a minute, in promtool's notation. */

type Series = Readonly<Record<string, string>>

export interface RuleCase {
  readonly alert: string
  /** When it is looked at. */
  readonly at: string
  readonly fires: Series
  /** Labels of the alert, beside the severity. */
  readonly labels: Series
  readonly silent: Series
}

export const ruleCase = (alert: string, at: string, fires: Series, labels: Series, silent: Series): RuleCase => ({
  alert,
  at,
  fires,
  labels,
  silent
})

/** A labelled counter that is absent for so many minutes, and begins with its first fault. */
export const bornAt = (minute: number, value = 1) => `_x${minute - 1} ${value}x120`

/** A counter that rises by so much a minute. */
export const rising = (name: string, step: number) => ({ [name]: `0+${step}x60` })
