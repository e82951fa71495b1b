/** What can be wrong with a fleet, and what of it is seen in the readings of its processes. */
export { conditionGroups, conditions } from "./conditions.ts"
export { runbooksPage } from "./runbooks.ts"
export { type Observed, type Sighting, sightingsOf } from "./sightings.ts"
export { type Looked, looks } from "./looks.ts"
export { isOfPlace, type Standing, told } from "./standing.ts"
export { conditionsView } from "./view.ts"
