/** How a state is meant: well, waited for, wrong, or neither. */
export type Tone = "good" | "wait" | "bad" | "quiet"
