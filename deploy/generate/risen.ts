/**
 * The rise of counters within a range, with those that began within it counted whole. A labelled counter first appears
 * when it counts for the first time, and `increase` of a series whose first sample is 1 is 0: an alert on that alone
 * would miss the first fault of each process.
 */
export const risen = (selector: string, range: string) =>
  `((${selector} unless ${selector} offset ${range}) or increase(${selector}[${range}]))`
