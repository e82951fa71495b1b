/**
 * By how much counters rose within a range, those that began within it counted whole. A labelled counter is first seen
 * when it counts for the first time, and `increase` of a series whose first sample is 1 is 0: an alert on that alone
 * sleeps through the first fault of each process.
 */
export const risen = (selector: string, range: string) =>
  `((${selector} unless ${selector} offset ${range}) or increase(${selector}[${range}]))`
