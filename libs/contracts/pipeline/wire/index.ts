/** The bodies and queries of the pipeline's API, and what it answers with. Its OpenAPI is made from these. */
export * from "./paging.ts"
export * from "./pauses.ts"
export * from "./projects.ts"
export * from "./releases.ts"
export * from "./work-item-history.ts"
export * from "./work-item-requests.ts"
export * from "./work-item-views.ts"
